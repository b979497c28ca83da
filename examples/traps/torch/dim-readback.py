# trap: dim-readback
# recompiles: 1
# breaks: 1
# fix: mask
# settings: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""A size is read back into Python."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x, mask):
    n = int(mask.sum().item())  # origin
    return x[:n].sum()


for n in (2, 3, 4):
    step(torch.ones(8), torch.arange(8) < n)
