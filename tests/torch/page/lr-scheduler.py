# trap: optimizer-scalar
# recompiles: 1..8
# fix: torch.tensor
# origin: any
"""Dealing with Recompilations: a scheduler's learning rate is a constant of each program."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

layer = torch.nn.Linear(3, 3)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


@torch.compile(backend=BACKEND)
def train(batch):
    optimizer.zero_grad(True)
    loss = layer(batch).sum()
    loss.backward()
    optimizer.step()
    scheduler.step()


for _ in range(5):
    train(torch.ones(3, 3))
