# trap: baked-constant
# recompiles: 1..2
# what: config
# fix: tensor
"""A number of some object moves."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

class Config:
    scale = 2


config = Config()


@torch.compile(backend=BACKEND)
def step(x):
    return x * config.scale  # origin


for config.scale in (2, 5, 9):  # source
    step(torch.ones(3))
