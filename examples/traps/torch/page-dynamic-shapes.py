# trap: shape-drift
# recompiles: 1
# what: x.shape[0]
# fix: mark_dynamic
"""Dealing with Recompilations: are dynamic shapes enabled?"""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def fn(x):  # origin
    return x + 1


fn(torch.ones(3))
fn(torch.ones(4))  # trigger, source


@torch.compile(backend=BACKEND, dynamic=True)
def gn(x):
    return x + 1


gn(torch.ones(3))
gn(torch.ones(4))
