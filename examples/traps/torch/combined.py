# trap: python-counter
# recompiles: 5
# also-classes: shape-drift
# what: self.calls
# fix: register_buffer
# settings: TORCH_COMPILE_DYNAMIC_SOURCES
"""A growing batch and a counter at once: six programs, where one would do."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # origin, source
        return self.inner(x) * self.calls


torch.manual_seed(0)
net = torch.compile(Net(), backend=BACKEND)
for batch in (4, 6, 8, 10, 12, 14):
    print(net(torch.ones(batch, 3)).sum().item())  # trigger
