# trap: optimizer-scalar
# recompiles: 3
# fix: tensor
"""A scheduler changes the Python learning rate of a compiled optimizer step."""

import torch
import torch.nn as nn

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(WIDTH, 1).to("tpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, capturable=True)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

    @torch.compile(dynamic=False)
    def update():
        optimizer.step()  # origin # trigger

    for step in range(4):
        x = torch.randn(BATCH, WIDTH).to("tpu")
        loss = (model(x) - x[:, :1]).square().mean()
        loss.backward()
        update()
        scheduler.step()
        optimizer.zero_grad()
    print("loss", loss.cpu().item())


if __name__ == "__main__":
    main()
