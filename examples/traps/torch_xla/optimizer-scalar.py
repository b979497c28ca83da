# trap: optimizer-scalar
# recompiles: 1
# fix: capturable=True
"""The learning rate is a Python float that a schedule takes to zero and up again: zero is compiled in."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1)).to("xla")
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 - step % 5 / 4)
    torch_xla.sync()
    for step in range(10):
        x = torch.randn(BATCH, 6).to("xla")
        optimizer.zero_grad()
        loss = (model(x) - x[:, :1]).square().mean()
        loss.backward()
        optimizer.step()  # origin
        torch_xla.sync()  # trigger
        schedule.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
