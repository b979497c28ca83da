# trap: baked-constant
# recompiles: 2..4
# breaks: 1
# fix: tensor
# origin: any
# also-classes: zero-one-specialisation shape-drift
"""Dealing with Recompilations: all of it is compiled again, or only what stands behind a deliberate graph break."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")


def large(x):
    return x + 1


@torch.compile(backend=BACKEND)
def whole(x, c):
    y = large(x)
    return y + c


for i in range(1, 3):
    whole(torch.ones(i), i)  # source


@torch.compile(backend=BACKEND)
def parted(x, c):
    y = large(x)
    torch._dynamo.graph_break()
    return y + c


for i in range(1, 3):
    parted(torch.ones(i), i)  # source
