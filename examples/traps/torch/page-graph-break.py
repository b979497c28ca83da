# trap: baked-constant
# recompiles: 3..7
# breaks: 1
# what: c
# fix: tensor
# origin: any
"""Dealing with Recompilations: a graph break keeps what follows from being compiled again."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

def very_large_function(x):
    return x + 1


@torch.compile(backend=BACKEND, dynamic=False)
def fn(x, c):
    y = very_large_function(x)
    torch._dynamo.graph_break()  # break
    return y + c  # origin


for c in range(1, 5):
    fn(torch.ones(3), c)  # source
