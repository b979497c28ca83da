# trap: static-argument
# recompiles: 2
# fix: for each
"""How to pool is told by a string, and every request brings its own."""

import torch

WIDTH = 16  # size: 8..32 by 8
LENGTH = 8  # size: 4..16 by 4


@torch.compile
def pooled(weights, x, kind):
    hidden = torch.tanh(x @ weights)
    return hidden.mean(0) if kind == "mean" else hidden.amax(0) if kind == "max" else hidden.sum(0)  # origin


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, WIDTH).to("tpu")
    for kind in ["mean", "mean", "max", "mean", "sum", "max"]:
        out = pooled(weights, torch.randn(LENGTH, WIDTH).to("tpu"), kind)
    print("largest", out.cpu().max().item())


if __name__ == "__main__":
    main()
