# trap: optional-key
# recompiles: 1
# fix: mask
"""Some batches have weights for their samples, others do not."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(WIDTH, 1).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for step in range(9):
            batch = {"x": torch.randn(BATCH, WIDTH).to("xla")}
            if step in (3, 4, 7):
                batch["weight"] = torch.rand(BATCH, 1).to("xla")
            loss = torch.tanh(model(batch["x"])).square()
            if "weight" in batch:
                loss = loss * batch["weight"]
            loss = loss.mean()
            torch_xla.sync()  # trigger
    print("loss", loss.item())


if __name__ == "__main__":
    main()
