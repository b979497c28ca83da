# trap: shape-drift
# recompiles: 8
# what: x.shape[0]
# fix: mark_dynamic
# also-classes: zero-one-specialisation
# never: recompile-limit
"""Dealing with Recompilations: the same with a higher limit."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")


@torch.compile(backend=BACKEND, dynamic=False)
def raised(x):  # origin
    return x + 1


with torch._dynamo.config.patch(cache_size_limit=16):
    for size in range(1, 10):
        raised(torch.ones(size))  # source
