# trap: optional-key
# recompiles: 1
# what: mask
# fix: mask
"""A batch has or lacks a mask."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

@torch.compile(backend=BACKEND)
def step(batch):
    y = batch["x"] * 2
    if "mask" in batch:  # origin
        y = y * batch["mask"]
    return y


step({"x": torch.ones(3)})
step({"x": torch.ones(3), "mask": torch.ones(3)})
