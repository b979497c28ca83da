"""hang.py WAYS: a jax.distributed job (POD_RANK, POD_WORLD, POD_PORT) in which the last ranks do not come to step 3, each in
one of the ways (separated by commas); the others wait for them in a program of all ranks. The lines are marked with
`here: WAY`. With AGAIN set, step 3 needs another program; with BLOCK, the others wait in another way."""
import os
import queue
import signal
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

RANK, WORLD = int(os.environ["POD_RANK"]), int(os.environ["POD_WORLD"])
WAYS = sys.argv[1].split(",")
WAY = dict(zip(range(WORLD - len(WAYS), WORLD), WAYS)).get(RANK)
jax.distributed.initialize(f"localhost:{os.environ['POD_PORT']}", WORLD, RANK, heartbeat_timeout_seconds=1000)
mesh = Mesh(np.array(jax.devices()), ("data",))
DATA, ALL = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())


@jax.jit
def train_step(weights, batch):
    return weights - 0.1 * jnp.mean(batch * weights)


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)  # here: stop


def loop():
    while True: pass  # here: loop


def lock():
    held = threading.Lock()
    held.acquire()
    held.acquire()  # here: lock


def dead():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)


def loader():
    queue.Queue().get()  # here: loader


def missing():
    """It left the loop a step early, and waits for the others at the end."""
    from jax._src import distributed
    distributed.global_state.client.wait_at_barrier("the end", 1000000)  # here: missing


weights = jax.device_put(np.float32(1.0), ALL)
for step in range(4):
    if WAY and step == 3:
        jax.block_until_ready(weights)
        globals()[WAY]()
    rows = 4 if os.environ.get("AGAIN") is None or step < 3 else 8
    batch = jax.make_array_from_process_local_data(DATA, np.ones((rows, 3), np.float32) * (RANK + 1))
    weights = train_step(weights, batch)
if "BLOCK" in os.environ:  # no function of JAX's is on the stack there
    weights.block_until_ready()  # here: block
print("done", float(weights))  # here: device
