# trap: last-batch
# recompiles: 1
# what: x.shape[0]
# fix: drop_last
# settings: TORCH_COMPILE_DYNAMIC_SOURCES
# after: 0
"""Only the last batch is short."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):  # origin
    return (x * 2).sum(0)


for batch in (8, 8, 8, 3):  # source
    step(torch.ones(batch, 3))  # trigger
