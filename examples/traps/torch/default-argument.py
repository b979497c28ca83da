# trap: default-argument
# recompiles: 1
# what: factor
# fix: default
"""The default of a parameter is changed."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

def scale(x, factor=1.0):
    return x * factor  # origin


step = torch.compile(scale, backend=BACKEND)
step(torch.ones(3))
scale.__defaults__ = (2.0,)
step(torch.ones(3))  # trigger
