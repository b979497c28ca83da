# trap: none
# recompiles: 0
# variants: no
"""A compiled loss whose gradient is a program of its own, and a loop that reads the loss back: no alarm."""

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 8)).to("tpu")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(32, 64, device="tpu"), torch.randn(32, 8, device="tpu")


@torch.compile
def loss_of(x, y):
    return ((model(x) - y) ** 2).mean()


for step in range(5):
    loss = loss_of(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4), loss.device)
