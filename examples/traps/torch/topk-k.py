# trap: topk-k
# recompiles: 2
# what: k
# fix: one k
"""The k of a top-k varies."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND, dynamic=False)
def step(x, k):
    return x.topk(k).values.sum()  # origin


for k in (2, 3, 4):  # source
    step(torch.arange(8.0), k)
