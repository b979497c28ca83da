# trap: none
# recompiles: 0
"""Training with a compiled loss and AdamW: a few programs, and no alarm."""

import torch
import torch.nn as nn

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1)).to("tpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, capturable=True)
    loss_of = torch.compile(lambda x: (model(x) - x[:, :1]).square().mean())
    for step in range(6):
        optimizer.zero_grad()
        loss = loss_of(torch.randn(BATCH, 6).to("tpu"))
        loss.backward()
        optimizer.step()
    print("loss", loss.cpu().item())


if __name__ == "__main__":
    main()
