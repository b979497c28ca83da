# trap: none
# recompiles: 0
"""Training with AdamW and an evaluation at the end: a few programs, and no alarm."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1)).to("xla")
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, capturable=True)
    for step in range(8):
        x = torch.randn(BATCH, 6).to("xla")
        optimizer.zero_grad()
        loss = (model(x) - x[:, :1]).square().mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    with torch.no_grad():
        x = torch.randn(BATCH, 6).to("xla")
        print("held out", (model(x) - x[:, :1]).square().mean().item())


if __name__ == "__main__":
    main()
