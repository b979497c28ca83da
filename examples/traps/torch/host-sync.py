# trap: host-sync
# recompiles: 1
# breaks: 1
# fix: keep it a tensor
# settings: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
# after: 0
"""The loss is read back in the middle of a step."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):
    scale = x.sum().item()  # origin
    return x * scale


for i in range(3):
    step(torch.full((3,), i + 0.5))
