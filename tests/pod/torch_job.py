"""torch_job.py WAY DEVICE: one process of a torchrun job that trains a little model with torch.compile and averages the
gradients over gloo. DEVICE: cpu, or tpu for TorchTPU. WAY plants a divergence on the last rank, or none ("clean"). The line
that makes the graph differ is marked with `here: WAY`. BACKEND is that of torch.compile. HOLD, a file of events: Inductor stops
before it generates code, until a difference is in the file, and the rank ends then. BACKEND=held: the recompile of the last rank
stops in the same way, and goes on. UNTIL, such a file: the last rank ends when a
difference of XLA's programs is in it."""
import os
import sys
import time

WAY, DEVICE = sys.argv[1:]
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ODD = RANK == WORLD - 1
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch2" if WAY == "module" and ODD else "torch1"))
if WAY == "flag" and ODD:
    os.environ["XLA_FLAGS"] = "--xla_cpu_enable_fast_math=true"

import torch
import torch.distributed as dist
import blocks

if WAY == "flag" and ODD:
    import torch._inductor.config
    torch._inductor.config.epilogue_fusion = False
dist.init_process_group("gloo")


def await_name():
    for _ in range(600):  # the limit only ends a test that would hang
        if '"event":"divergence"' in open(os.environ["HOLD"]).read():
            print(f"rank {RANK}: named before code was generated", flush=True)
            return
        time.sleep(0.1)
    os._exit(1)


def hold(graph):
    await_name()
    os._exit(0)


def held(graph, inputs):
    """A backend."""
    if ODD and step >= 2:
        await_name()
    return graph.forward


BACKEND = os.environ.get("BACKEND", "inductor" if DEVICE == "cpu" else "tpu")
if "HOLD" in os.environ and BACKEND == "inductor":
    import torch._inductor.graph
    torch._inductor.graph.GraphLowering.codegen = hold


def names():
    """A set of strings has another order in each process."""
    return {"scale", "shift", "bias", "gain", "mix", "drop", "norm", "pool"}


def loss_of(weights, batch):
    x = blocks.forward(weights["scale"], batch)
    if WAY == "constant":
        x = x * block  # here: constant
    if WAY == "branch" and ODD:
        x = torch.sin(x)  # here: branch
    if WAY == "set":
        for key in names():
            x = x + weights[key].sum()  # here: set
    return (x * x).mean()


def rows(step):
    """The last rank drops rows that are "empty" in its data."""
    return 3 if WAY == "shape" and ODD and step >= 2 else 4  # source: shape


block = 1.5 if WAY == "constant" and ODD else 1.25
compiled = torch.compile(loss_of, backend=held if BACKEND == "held" else BACKEND)
weights = {k: torch.full((3,), 0.1 * (i + 1), device=DEVICE, requires_grad=True) for i, k in enumerate(sorted(names()))}
for step in range(int(os.environ.get("STEPS", "4"))):
    batch = (torch.arange(rows(step) * 3, dtype=torch.float32).reshape(-1, 3) / 100 + RANK).to(DEVICE)
    loss = compiled(weights, batch)
    loss.backward()
    for w in weights.values():
        if w.grad is not None:
            mean = w.grad.cpu()
            dist.all_reduce(mean)
            w.data -= 0.1 * mean.to(DEVICE) / WORLD
            w.grad = None
print(f"loss {RANK} {float(loss.detach().cpu()).hex()}", flush=True)
if "UNTIL" in os.environ and ODD:
    for _ in range(600):  # the limit only ends a test that would hang
        if os.path.exists(os.environ["UNTIL"]) and '"lane":"xla"' in open(os.environ["UNTIL"]).read().replace(" ", ""):
            break
        time.sleep(0.1)
dist.barrier()
dist.destroy_process_group()
