# trap: list-length
# recompiles: 2
# what: len of xs
# fix: pad
"""A list of tensors grows."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(xs):
    return sum(x.sum() for x in xs)  # origin


for count in (2, 3, 4):  # source
    step([torch.full((3,), float(i)) for i in range(count)])
