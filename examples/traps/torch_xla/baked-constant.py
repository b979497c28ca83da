# trap: baked-constant
# recompiles: 3
# fix: tensor on the device
"""A rotation by a Python number: the number is part of the graph."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(WIDTH, WIDTH).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for shift in [3, 3, 1, 5, 3, 2]:
            x = torch.randn(BATCH, WIDTH).to("xla")
            score = torch.roll(torch.tanh(model(x)), shift, dims=1)[:, 0].mean()  # origin
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
