# trap: dtype-change
# recompiles: 1
# fix: dtype
"""One data source delivers bytes, the other floats."""

import torch
import torch.nn as nn

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@torch.compile
def score(weights, x):
    scaled = x * 0.5  # origin
    return torch.relu(scaled @ weights).mean()


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, 4).to("tpu")
    for kind in ["float", "float", "bytes", "float", "bytes"]:
        x = torch.randint(0, 255, (BATCH, WIDTH))
        x = x.float() if kind == "float" else x.to(torch.uint8)
        result = score(weights, x.to("tpu"))
    print("score", result.cpu().item())


if __name__ == "__main__":
    main()
