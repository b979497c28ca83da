# trap: value-branch
# recompiles: 0
# breaks: 1
# fix: torch.where
"""A Python branch on a tensor's value."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):
    if x.sum() > 0:  # origin
        return x + 1
    return x - 1


step(torch.ones(3))
step(-torch.ones(3))
