# trap: rank-change
# recompiles: 1
# fix: dimensions
"""Single samples come without their batch dimension."""

import torch

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@torch.compile
def score(x):
    return torch.tanh(x).mean()  # origin


def main():
    torch.manual_seed(0)
    for single in [False, False, True, False, True]:
        x = torch.randn(WIDTH) if single else torch.randn(BATCH, WIDTH)
        result = score(x.to("tpu"))
    print("score", result.cpu().item())


if __name__ == "__main__":
    main()
