# trap: python-counter
# recompiles: 4
# what: self.calls
# fix: register_buffer
# settings: TORCH_COMPILE_DYNAMIC_SOURCES
# after: 0
"""A module counts its calls in an attribute."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # origin, source
        return self.inner(x) * self.calls


model = torch.compile(Counting(), backend=BACKEND)
for _ in range(5):
    model(torch.ones(4, 3))  # trigger
