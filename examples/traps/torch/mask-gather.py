# trap: mask-gather
# recompiles: 1
# breaks: 1
# fix: torch.where
# settings: TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS
"""A boolean mask picks a varying number of rows."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x, mask):
    return x[mask].sum()  # origin


for n in (7, 4, 5):
    step(torch.ones(8), torch.arange(8) < n)
