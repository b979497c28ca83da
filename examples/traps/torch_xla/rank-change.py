# trap: rank-change
# recompiles: 1
# fix: dimensions
"""Single samples come without their batch dimension."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(WIDTH, 4).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for single in [False, False, True, False, True]:
            x = torch.randn(WIDTH) if single else torch.randn(BATCH, WIDTH)
            score = torch.tanh(x.to("xla")).mean()  # origin
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
