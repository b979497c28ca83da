# trap: hidden-branch
# recompiles: 1
# fix: warm-up
"""Late in the run a flag switches on a penalty in the compiled function."""

import torch
import torch.nn as nn

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@torch.compile
def loss_of(weights, x, penalise):
    loss = torch.tanh(x @ weights).square().mean()
    if penalise:
        loss = loss + weights.abs().sum() * 0.01  # origin
    return loss


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, WIDTH).to("tpu")
    for step in range(8):
        loss = loss_of(weights, torch.randn(BATCH, WIDTH).to("tpu"), step >= 5)
    print("loss", loss.cpu().item())


if __name__ == "__main__":
    main()
