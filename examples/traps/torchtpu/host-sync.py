# trap: host-sync
# recompiles: 1+
# fix: every N steps
"""A training loop that, once warmed up, prints how far the weights moved: small programs between the steps."""

import torch

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@torch.compile
def descended(weights, x, wanted):
    error = torch.tanh(x @ weights) - wanted
    return weights - 0.05 * (x.transpose(0, 1) @ error)


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, 1).to("tpu")
    for step in range(9):
        x = torch.randn(BATCH, WIDTH)
        before = weights
        weights = descended(weights, x.to("tpu"), x[:, :1].to("tpu"))
        if step >= 5:
            print("moved", (weights - before).abs().max().item())  # origin # trigger


if __name__ == "__main__":
    main()
