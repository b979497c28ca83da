# trap: recompile-limit
# recompiles: 8
# what: x.shape[0]
# fix: mark_dynamic
# also-classes: shape-drift zero-one-specialisation
# limit: 8
# nested: added
"""Dealing with Recompilations: a program for each size, up to the limit."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")


def added(x):
    return x + 1


@torch.compile(backend=BACKEND, dynamic=False)
def grown(x):  # origin
    return added(x)


for size in range(1, 10):
    grown(torch.ones(size))  # source
