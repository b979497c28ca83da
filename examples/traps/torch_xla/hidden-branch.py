# trap: hidden-branch
# recompiles: 1
# fix: warm-up
"""Every few steps the norm of the weights joins the loss."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(WIDTH, 4).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for step in range(8):
            x = torch.randn(BATCH, WIDTH).to("xla")
            score = torch.relu(model(x)).mean()
            if step % 4 == 3:
                score = score + torch.sqrt((model.weight * model.weight).sum())  # origin
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
