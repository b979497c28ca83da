"""torch_job.py WAY GO: one process of a torchrun job over gloo that compiles a step with a reduction over all ranks. WAY plants a
divergence on the last rank, or none ("clean"); the line that makes the graph differ is marked with `here: WAY`. Waits for the
file GO."""
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives

WAY, GO = sys.argv[1:]
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ODD = RANK == WORLD - 1
block = 1.5 if WAY == "torch-constant" and ODD else 1.25
dist.init_process_group("gloo")


def step(x):
    x = torch.sin(x) * 2
    if WAY == "torch-constant":
        x = x * block  # here: torch-constant
    if WAY == "torch-branch" and ODD:
        x = torch.relu(x)  # here: torch-branch
    return collectives.all_reduce(x.sum(), "sum", list(range(WORLD)))


compiled = torch.compile(step, backend="eager")
rows = 6 if WAY == "torch-shape" and ODD else 8
for _ in range(3):
    total = compiled(torch.ones(rows, 3))  # here: torch-shape
print("total", float(total).hex(), flush=True)
while not os.path.exists(GO):
    time.sleep(0.05)
dist.destroy_process_group()
