# trap: global-value
# recompiles: 3
# what: SCALE
# fix: global
# settings: TORCH_COMPILE_DYNAMIC_SOURCES
# after: 0
"""A global number moves."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

SCALE = 1


@torch.compile(backend=BACKEND)
def step(x):
    return x * SCALE  # origin


for SCALE in (2, 3, 4, 5):  # source
    step(torch.ones(3))
