# trap: value-branch
# recompiles: 1+
# fix: torch.where
"""Clipping is decided by a Python `if` on the norm of the activations."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Linear(WIDTH, WIDTH).to("xla")
    with torch.no_grad():
        for step in range(8):
            x = (torch.randn(BATCH, WIDTH) * (30.0 if step == 4 else 0.1)).to("xla")
            hidden = model(x)
            if hidden.norm() > 20.0:  # trigger
                hidden = torch.tanh(hidden / hidden.norm())
            score = hidden.square().mean()
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
