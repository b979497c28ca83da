# trap: python-loop
# recompiles: 2
# what: reps
# fix: loop
"""A Python loop runs a varying number of times."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x, reps):
    for _ in range(reps):  # origin
        x = x.sin()
    return x


for reps in (2, 3, 4):  # source
    step(torch.ones(3), reps)
