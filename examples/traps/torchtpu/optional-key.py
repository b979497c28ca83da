# trap: optional-key
# recompiles: 1
# fix: zeros
"""Some batches carry weights, most do not."""

import torch
import torch.nn as nn

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@torch.compile
def loss_of(weights, batch):
    error = (torch.tanh(batch["x"] @ weights) - batch["y"]).square()
    if "weight" in batch:
        error = error * batch["weight"]  # origin
    return error.mean()


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, 1).to("tpu")
    for step in range(7):
        batch = {"x": torch.randn(BATCH, WIDTH).to("tpu"), "y": torch.randn(BATCH, 1).to("tpu")}
        if step == 4:
            batch["weight"] = torch.rand(BATCH, 1).to("tpu")
        loss = loss_of(weights, batch)
    print("loss", loss.cpu().item())


if __name__ == "__main__":
    main()
