# trap: closure-value
# recompiles: 1
# what: factor
# fix: closure
# settings: TORCH_COMPILE_DYNAMIC_SOURCES
# after: 0
"""A factory bakes its parameter into what it makes."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

def scaled(factor):
    def step(x):
        return x * factor  # origin

    return step


for factor in (2, 3, 4):  # source
    torch.compile(scaled(factor), backend=BACKEND)(torch.ones(3))  # trigger
