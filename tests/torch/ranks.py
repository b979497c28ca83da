"""Four ranks over gloo; rank 2 pads its batches differently. Then they wait for a file (a minute and a half at most).

usage: ranks.py FOLDER GO
"""

import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

RANKS = 4
DRIFTER = 2


def step(x):
    return (x * 2).sum()


def work(rank, folder, go):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(RANKS))
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=RANKS)
    compiled = torch.compile(step, backend="eager")
    for i in range(6):
        rows = 8 if rank != DRIFTER or i < 2 else 9
        total = compiled(torch.ones(rows, 3))
        dist.all_reduce(total)
    end = time.time() + 90
    while not os.path.exists(go) and time.time() < end:
        time.sleep(0.05)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(work, args=sys.argv[1:], nprocs=RANKS, start_method="fork")
    print("done", time.time())
