# trap: recompile-limit
# recompiles: 8
# what: rank of x
# fix: dimensions
# also-classes: rank-change
# limit: 8
"""Dealing with Recompilations: changing the cache size limit."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def fn(x):  # origin
    return x + 1


for i in range(1, 10):
    fn(torch.ones(*([2] * i)))  # source
