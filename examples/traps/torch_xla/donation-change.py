# trap: donation-change
# recompiles: 1
# fix: in place
"""The running average is updated in place, but for the steps that keep the old one: a new tensor then."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(6, WIDTH).to("xla")
    average = torch.zeros(WIDTH).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for step in range(9):
            x = torch.randn(BATCH, 6).to("xla")
            level = model(x).mean(0)
            if step in (4, 7):
                average = average * 0.9 + level
            else:
                average.mul_(0.9).add_(level)
            torch_xla.sync()  # trigger
    print("average", average.norm().item())


if __name__ == "__main__":
    main()
