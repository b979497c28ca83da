# trap: optimizer-state-init
# recompiles: 1
# benign: yes
# fix: nothing
"""Momentum buffers appear with the first step: the second has its own program, and that is all."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1)).to("xla")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    torch_xla.sync()
    for step in range(6):
        x = torch.randn(BATCH, 6).to("xla")
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # trigger
    print("weight", model[0].weight.norm().cpu().item())


if __name__ == "__main__":
    main()
