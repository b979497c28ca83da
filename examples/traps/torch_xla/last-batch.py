# trap: last-batch
# recompiles: 1
# fix: drop_last
"""The data set does not divide by the batch size."""

import torch
import torch.nn as nn
import torch_xla
from torch.utils.data import DataLoader, TensorDataset

EXAMPLES = 45  # size: 45 53 60
BATCH = 16  # size: 16 18
WIDTH = 16  # size: 8..32 by 8


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1)).to("xla")
    loader = DataLoader(TensorDataset(torch.randn(EXAMPLES, 6)), batch_size=BATCH)
    with torch.no_grad():
        for epoch in range(3):
            for (x,) in loader:
                score = model(x.to("xla")).mean()  # origin
                torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
