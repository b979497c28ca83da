# trap: slice-start
# recompiles: 2
# fix: index
"""A window slides over a series; torch.compile is told that its start is a constant."""

import torch

LENGTH = 160  # size: 160 200 256
WINDOW = 16  # size: 8..24 by 8


@torch.compile(dynamic=False)
def score(series, start):
    part = series[start : start + WINDOW]  # origin
    return torch.tanh(part).mean()


def main():
    torch.manual_seed(0)
    series = torch.randn(LENGTH, 3).to("tpu")
    for start in [12, 30, 12, 47]:
        result = score(series, start)  # trigger
    print("score", result.cpu().item())


if __name__ == "__main__":
    main()
