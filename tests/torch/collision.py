"""Two functions with an input of one name: it drifts in one of them alone."""

import torch


@torch.compile(backend="eager")
def drifts(x):
    return x * 2


@torch.compile(backend="eager")
def stays(x):
    return x + 1


for batch in (4, 6, 8):
    print(drifts(torch.ones(batch, 3)).sum().item(), stays(torch.ones(5, 3)).sum().item())
