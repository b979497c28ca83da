# trap: mark-dynamic-violation
# recompiles: 0
# fix: mark_dynamic
# fails: mark-dynamic-violation
"""A dimension is marked dynamic, and the code fixes it."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):  # origin
    return x * 2 if x.shape[0] == 4 else x


x = torch.ones(4, 3)
torch._dynamo.mark_dynamic(x, 0)
try:
    step(x)
except Exception as error:
    print(type(error).__name__)
