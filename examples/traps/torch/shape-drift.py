# trap: shape-drift
# recompiles: 1
# what: x.shape[0]
# fix: mark_dynamic(x, 0)
# settings: TORCH_COMPILE_DYNAMIC_SOURCES
# after: 0
"""The batch grows from step to step."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):  # origin
    return (x * 2).sum(0)


for batch in (4, 6, 8):  # source
    step(torch.ones(batch, 3))  # trigger
