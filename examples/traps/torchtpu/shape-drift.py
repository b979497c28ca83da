# trap: shape-drift
# recompiles: 2+
# fix: mark_dynamic
"""Every batch has the length of its longest sequence."""

import torch
import torch.nn as nn

WIDTH = 16  # size: 8..32 by 8
SPREAD = 3  # size: 2 3 5


@torch.compile(dynamic=False)
def mixed(weights, x):
    hidden = x @ weights  # origin
    return torch.relu(hidden).mean(1)


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, WIDTH).to("tpu")
    for length in [4, 4, 6, 4, 7, 6]:
        x = torch.randn(3, length * SPREAD, WIDTH).to("tpu")
        out = mixed(weights, x)
    print("largest", out.cpu().max().item())


if __name__ == "__main__":
    main()
