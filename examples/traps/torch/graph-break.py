# trap: graph-break
# recompiles: 0
# breaks: 1
# fix: print
"""Something prints in the middle of a step."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(x):
    y = x.sin()
    print("half way")  # origin
    return y.cos()


step(torch.ones(3))
