# trap: hidden-branch
# recompiles: 1
# what: log
# fix: warm-up
"""Every few steps something is logged."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x, log):
    y = x * 2
    if log:  # origin
        y = y + y.mean()
    return y


for i in range(3):
    step(torch.ones(3), i == 2)  # source
