# trap: stride-change
# recompiles: 1
# what: x.stride[0]
# fix: contiguous
"""An input comes transposed."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):  # origin
    return x * 2


step(torch.ones(3, 3))
step(torch.arange(9.0).reshape(3, 3).t())  # trigger, source
