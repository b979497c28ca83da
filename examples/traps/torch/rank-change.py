# trap: rank-change
# recompiles: 1
# what: rank of x
# fix: number of dimensions
"""An input gains a dimension."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):  # origin
    return x * 2


step(torch.ones(3))
step(torch.ones(3, 4))  # trigger, source
