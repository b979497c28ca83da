# trap: optimizer-scalar
# recompiles: 1..8
# what: lr
# fix: torch.tensor
# origin: any
# also-classes: hidden-branch python-counter list-length optional-key static-argument baked-constant unknown global-value recompile-limit
"""A scheduler changes a Python learning rate."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # source
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


@torch.compile(backend=BACKEND, fullgraph=False)
def step():
    optimizer.step()
    scheduler.step()


for _ in range(3):
    model(torch.ones(2, 3)).sum().backward()
    step()
    optimizer.zero_grad(set_to_none=False)
