# trap: baked-constant
# recompiles: 1
# what: lr
# fix: torch.tensor(lr)
# settings: TORCH_COMPILE_JOB_ID
# after: 0
"""The learning rate is a Python float."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x, lr):
    return x - lr * x.sign()  # origin


for lr in (0.1, 0.2, 0.3):  # source
    step(torch.ones(3), lr)  # trigger
