# trap: requires-grad
# recompiles: 1
# what: requires_grad of x
# fix: requires_grad
"""An input needs a gradient in some calls."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):  # origin
    return x * 2


step(torch.ones(3))
step(torch.ones(3, requires_grad=True))
