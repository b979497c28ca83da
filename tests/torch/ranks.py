"""Four ranks over gloo; rank 2 pads its batches differently."""

import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

RANKS = 4
DRIFTER = 2


def step(x):
    return (x * 2).sum()


def work(rank, port):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(RANKS), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo")
    compiled = torch.compile(step, backend="eager")
    for i in range(6):
        rows = 8 if rank != DRIFTER or i < 2 else 9
        total = compiled(torch.ones(rows, 3))
        dist.all_reduce(total)
        time.sleep(0.5)
    dist.destroy_process_group()


if __name__ == "__main__":
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    mp.start_processes(work, args=(free,), nprocs=RANKS, start_method="fork")
    print("done", time.time())
