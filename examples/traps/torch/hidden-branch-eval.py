# trap: hidden-branch
# recompiles: 1
# what: training
# fix: warm-up
"""The model goes to evaluation."""

import os

import torch

BACKEND = os.environ.get("TRAP_BACKEND", "eager")

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.drop = torch.nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(self.inner(x))  # origin


model = Model()
step = torch.compile(model, backend=BACKEND)
step(torch.ones(2, 3))
model.eval()  # source
step(torch.ones(2, 3))
