# trap: value-branch
# also: graph-break
# recompiles: 1
# fix: torch.where
"""A compiled function looks at the largest activation and, in Python, decides whether to clip."""

import torch

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@torch.compile
def score(weights, x):
    hidden = torch.tanh(x @ weights)
    if hidden.abs().mean() > 0.5:  # trigger
        hidden = hidden / hidden.norm()  # origin
    return hidden.square().mean()


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, WIDTH).to("tpu")
    for step in range(8):
        x = torch.randn(BATCH, WIDTH) * (30.0 if step in (4, 6) else 0.01)
        result = score(weights, x.to("tpu"))
    print("score", result.cpu().item())


if __name__ == "__main__":
    main()
