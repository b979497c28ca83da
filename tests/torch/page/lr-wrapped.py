# trap: none
# recompiles: 0..8
# never: optimizer-scalar
# origin: any
"""Dealing with Recompilations: the learning rate as a tensor. No program depends on its value any more."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

layer = torch.nn.Linear(3, 3)
optimizer = torch.optim.Adam(layer.parameters(), lr=torch.tensor(0.01))
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, torch.tensor(0.9))


@torch.compile(backend=BACKEND)
def train(batch):
    optimizer.zero_grad(True)
    loss = layer(batch).sum()
    loss.backward()
    optimizer.step()
    scheduler.step()


for _ in range(5):
    train(torch.ones(3, 3))
