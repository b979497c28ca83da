# trap: baked-constant
# recompiles: 2..4
# fix: torch.tensor
# also-classes: shape-drift zero-one-specialisation
# origin: any
"""Dealing with Recompilations: wrapping constants with tensors."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def fn(x, c):
    return x + c  # origin


for i in range(5):
    fn(torch.ones(i), 0.5 + i)  # source
