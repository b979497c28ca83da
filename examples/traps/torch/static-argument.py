# trap: static-argument
# recompiles: 2
# what: mode
# fix: compile a function for each
"""A mode is a string."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x, mode):
    return x + 1 if mode == "train" else x - 1  # origin


for mode in ("train", "valid", "test"):  # source
    step(torch.ones(3), mode)
