# trap: zero-one-specialisation
# recompiles: 2
# what: x.shape[0]
# fix: mark_unbacked
# never: baked-constant
"""Dealing with Recompilations: the constant as a tensor. Only the sizes 0 and 1 are compiled apart."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")


@torch.compile(backend=BACKEND)
def shifted(x, by):  # origin
    return x + by


for size in range(5):
    shifted(torch.ones(size), torch.tensor(0.5 + size))  # source
