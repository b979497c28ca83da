# trap: dtype-change
# recompiles: 1
# what: dtype of x
# fix: dtype
"""An input comes as float64 once."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):  # origin
    return x * 2


step(torch.ones(3))
step(torch.ones(3, dtype=torch.float64))
