# trap: grad-create-accumulate
# recompiles: 1
# fix: set_to_none=False
"""Gradients are set to None after each update: the first micro-step creates them, the others add."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1)).to("xla")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(5):
        optimizer.zero_grad(set_to_none=True)
        for _ in range(3):
            x = torch.randn(BATCH, 6).to("xla")
            model(x).square().mean().backward()
            torch_xla.sync()  # trigger
        optimizer.step()
        torch_xla.sync()
    print("weight", model[0].weight.norm().item())


if __name__ == "__main__":
    main()
