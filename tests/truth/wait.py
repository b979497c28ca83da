#!/usr/bin/env python3
"""Is the waiting that `stet explain` counts the time that the drift cost?

Each program runs its loop with the drift and repaired, turn about in one process: each turn that drifts is
followed by one that does not. What the drift lost is the sum of the differences within these pairs. Both sides are
wall-clock time of the same moments: another program that takes the processor while a recompile waits makes
the lost and the counted time longer alike, and the ratio stays. An ordinary turn takes milliseconds, a
recompile hundreds of them, so the load between turns decides little; the same script without the drift
shows how much (noise). The ratio is the median of the runs. A report, not a test.

usage: wait.py BUILD_DIR ENV_DIR [--repeat N] [--only NAME]"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PAIRS = '''
print("lost", sum(timed(i) - timed(0) for i in range(1, STEPS)))
'''
HEAD = '''
import os, time
import jax, jax.numpy as jnp
from functools import partial

DRIFT, STEPS = os.environ["DRIFT"] == "1", 24

def init(key, width=64, layers=6):
    keys = jax.random.split(key, layers)
    return [{"up": jax.random.normal(k, (width, 4 * width)) * .1, "down": jax.random.normal(k, (4 * width, width)) * .1} for k in keys]

def forward(params, x):
    for layer in params:
        h = jax.nn.gelu((x - x.mean(-1, keepdims=True)) @ layer["up"])
        x = x + h @ layer["down"]
    return x

def loss_of(params, x):
    return jnp.mean(jnp.square(forward(params, x)))
'''
TAIL = '''
params = init(jax.random.key(0))
batches = [jax.block_until_ready(jnp.asarray(b)) for b in make_batches()]

def timed(i):
    global params
    began = time.perf_counter()
    params = jax.block_until_ready(one(params, batches[i], i))
    return time.perf_counter() - began

for _ in range(4):
    timed(0)
''' + PAIRS
TORCH_XLA = '''
import os, time
import torch, torch_xla
import torch_xla.core.xla_model as xm

DRIFT, STEPS = os.environ["DRIFT"] == "1", 24
device = xm.xla_device()
torch.manual_seed(0)
block = lambda: torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64), torch.nn.LayerNorm(64))
model = torch.nn.Sequential(*[block() for _ in range(6)]).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
batches = [torch.ones(16 + i if DRIFT else 16, 64).to(device) for i in range(STEPS)]
torch_xla.sync()

def one(x):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    torch_xla.sync()

def timed(i):
    began = time.perf_counter()
    one(batches[i])
    xm.wait_device_ops()
    return time.perf_counter() - began

for _ in range(4):
    timed(0)
''' + PAIRS
TORCH_TPU = '''
import os, time
import torch

DRIFT, STEPS, COMPILED = os.environ["DRIFT"] == "1", %d, %s
torch.manual_seed(0)
block = lambda: torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64), torch.nn.LayerNorm(64))
model = torch.nn.Sequential(*[block() for _ in range(6)]).to("tpu")
batches = [torch.ones(16 + i if DRIFT else 16, 64).to("tpu") for i in range(STEPS)]

def one(x):
    return model(x).square().mean()

if COMPILED:
    torch._dynamo.config.recompile_limit = 64
    one = torch.compile(one, dynamic=False)

@torch.no_grad()
def timed(i):
    began = time.perf_counter()
    one(batches[i]).cpu()
    return time.perf_counter() - began

for _ in range(8):
    timed(0)
''' + PAIRS
PROGRAMS = {
    "static-argument": HEAD + '''
import numpy as np
step = jax.jit(lambda params, x, lr: jax.tree.map(lambda p, g: p - lr * g, params, jax.grad(loss_of)(params, x)), static_argnums=2)
def make_batches():
    return [np.ones((16, 64), np.float32)] * STEPS
def one(params, x, i):
    return step(params, x, 1e-3 / (1 + i) if DRIFT else 1e-3)
''' + TAIL,
    "shape-drift": HEAD + '''
import numpy as np
@jax.jit
def step(params, x):
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, jax.grad(loss_of)(params, x))
def make_batches():
    return [np.ones((16 + i if DRIFT else 16, 64), np.float32) for i in range(STEPS)]
def one(params, x, i):
    return step(params, x)
''' + TAIL,
    "fresh-jit": HEAD + '''
import numpy as np
def update(params, x):
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, jax.grad(loss_of)(params, x))
once = jax.jit(update)
def make_batches():
    return [np.ones((16, 64), np.float32)] * STEPS
def one(params, x, i):
    return (jax.jit(lambda p, b: update(p, b)) if DRIFT and i else once)(params, x)
''' + TAIL,
    "pytorch-xla": TORCH_XLA,
    "torchtpu-eager": TORCH_TPU % (24, False),
    "torchtpu-compile": TORCH_TPU % (6, True),
}
ENVS = {"pytorch-xla": "torchxla", "torchtpu-eager": "torchtpu", "torchtpu-compile": "torchtpu"}


class Lane:
    def __init__(self, build, env, folder):
        self.stet = os.path.abspath(os.path.join(build, "bin", "stet"))
        self.envs = env
        self.folder = folder
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(folder, "state"), STET_STORE="off")

    def run(self, script, drift, env):
        """Seconds that the drift lost, and for its recompiles: waited, the compiler's part, how many."""
        python = os.path.abspath(os.path.join(self.envs, env, "bin", "python"))
        out = subprocess.run([self.stet, "run", "--quiet", "--cpu", "--", python, script], cwd=self.folder, text=True,
                             env=dict(self.env, DRIFT=str(int(drift))), capture_output=True, check=True)
        lost = float(next(line for line in out.stdout.splitlines() if line.startswith("lost")).split()[1])
        told = json.loads(subprocess.run([self.stet, "explain", "--format=json"], cwd=self.folder, text=True, env=self.env,
                                         capture_output=True).stdout)
        again = [r for r in told["recompiles"] if not r["benign"]]
        return lost, sum(r["wait_s"] for r in again), sum(r["cost_s"] for r in again), len(again)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("env")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", choices=sorted(PROGRAMS))
    args = parser.parse_args()
    print(f"{'':16}{'recompiles':>11}{'lost':>9}{'noise':>9}{'waited':>9}{'compiler':>9}  waited/lost (each of {args.repeat})")
    with tempfile.TemporaryDirectory() as folder:
        lane = Lane(args.build, args.env, folder)
        for name, body in PROGRAMS.items():
            if args.only in (None, name):
                report(lane, folder, name, body, args.repeat)


def report(lane, folder, name, body, repeat):
    script = os.path.join(folder, name + ".py")
    with open(script, "w") as file:
        file.write(body)
    env = ENVS.get(name, "jax")
    rows = []
    for _ in range(repeat):
        (lost, waited, compiler, count), repaired = lane.run(script, True, env), lane.run(script, False, env)
        rows.append((count, lost, repaired[0], waited, compiler, waited / lost))
    *figures, ratio = (statistics.median(column) for column in zip(*rows))
    each = " ".join(f"{row[-1]:.2f}" for row in rows)
    print(f"{name:16}{figures[0]:11.0f}{''.join(f'{f:8.2f}s' for f in figures[1:])}  {ratio:.2f} ({each})")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
