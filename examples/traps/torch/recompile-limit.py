# trap: recompile-limit
# recompiles: 8
# what: n
# fix: tensor
# also-classes: baked-constant
# limit: 8
"""A frame is compiled until torch gives up."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND, dynamic=False)
def step(x, n):
    return x + n  # origin


for n in range(10):
    step(torch.ones(3), n)  # source
