# trap: zero-one-specialisation
# recompiles: 2
# what: x.shape[0]
# fix: mark_unbacked
# also-classes: shape-drift
# settings: TORCH_COMPILE_UNBACKED_SOURCES
# after: 0
"""A batch of one is compiled apart, even when the dimension is dynamic."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):
    return x * 2  # origin


for batch in (4, 5, 1):  # source
    step(torch.ones(batch, 3))
