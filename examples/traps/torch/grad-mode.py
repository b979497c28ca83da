# trap: grad-mode
# recompiles: 1
# what: grad_mode
# fix: no_grad
"""Evaluation calls the same function without gradients."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):  # origin
    return x * 2


x = torch.ones(3)
step(x)
with torch.no_grad():  # source
    step(x)
