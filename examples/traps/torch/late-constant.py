# trap: baked-constant
# recompiles: 3
# what: scale
# fix: torch.tensor(scale)
# split: yes
"""A constant at the very end has the whole function compiled again: a deliberate graph break before it saves most."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")


@torch.compile(backend=BACKEND, dynamic=False)
def step(x, scale):
    y = x.sin()
    y = y.cos() + x
    y = y.tanh() * x
    return y * scale  # origin


for scale in range(2, 6):
    step(torch.ones(3), scale)  # source
