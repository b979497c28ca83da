# trap: slice-start
# recompiles: 3
# fix: index
"""A window slides over a series on the device; its start is a Python int."""

import torch
import torch.nn as nn
import torch_xla

LENGTH = 160  # size: 160 200 256
WINDOW = 16  # size: 8..24 by 8
WIDTH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, WIDTH).to("xla")
    series = torch.randn(LENGTH, 3).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for start in [12, 30, 12, 47, 30, 64]:
            part = series[start : start + WINDOW]  # origin
            score = torch.tanh(model(part)).mean()
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
