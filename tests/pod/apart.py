"""apart.py WAY: one process of a job whose ranks have devices of their own, as launchers of PyTorch start them (POD_RANK,
POD_WORLD become RANK and WORLD_SIZE). Rank 0 alone evaluates. WAY: clean, or constant: the last rank has another one."""
import os
import sys
import time

RANK, WORLD = os.environ["POD_RANK"], os.environ["POD_WORLD"]
os.environ.update(RANK=RANK, WORLD_SIZE=WORLD, LOCAL_RANK=RANK, LOCAL_WORLD_SIZE=WORLD, MASTER_PORT=os.environ["POD_PORT"])
import jax.numpy as jnp
import numpy as np
from jax import jit

scale = 1.5 if sys.argv[1] == "constant" and int(RANK) == int(WORLD) - 1 else 1.25


@jit
def train_step(weights, batch):
    return weights - 0.1 * jnp.mean(batch * weights * scale)  # here: apart


@jit
def evaluate(weights):
    return jnp.sum(weights)


weights = jnp.ones(3)
for step in range(6):
    weights = train_step(weights, np.ones((4, 3), np.float32))
    if RANK == "0" and step == 3:  # one rank alone may do this
        evaluate(weights)
while sys.argv[1] != "clean" and '"divergences"' not in open(os.environ["EVENTS"]).read():
    time.sleep(0.1)
