# trap: baked-constant
# recompiles: 2
# fix: tensor
"""A Python float scales the output of a compiled function, and it changes."""

import torch
import torch.nn as nn

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@torch.compile
def scaled(weights, x, temperature):
    hidden = torch.tanh(x @ weights)
    return (hidden / temperature).softmax(-1)  # origin


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, WIDTH).to("tpu")
    for temperature in [0.7, 0.7, 0.9, 0.7, 1.3, 0.9]:
        x = torch.randn(BATCH, WIDTH).to("tpu")
        chances = scaled(weights, x, temperature)
    print("largest", chances.cpu().max().item())


if __name__ == "__main__":
    main()
