"""job.py WAY: one process of a jax.distributed job (POD_RANK, POD_WORLD, POD_PORT) that trains a little model on
all devices of all processes. WAY plants a divergence on the last rank, or none ("clean"). The line that makes the program
differ is marked with `here: WAY`; `again: WAY` marks the line that waits for it."""
import os
import sys

WAY, STEPS = sys.argv[1], int(os.environ.get("STEPS", "4"))
RANK, WORLD = int(os.environ["POD_RANK"]), int(os.environ["POD_WORLD"])
ODD = RANK == WORLD - 1
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib2" if WAY == "module" and ODD else "lib1"))
if WAY == "flag" and ODD:
    os.environ["XLA_FLAGS"] = "--xla_cpu_enable_fast_math=true"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import layers

jax.distributed.initialize(f"localhost:{os.environ['POD_PORT']}", WORLD, RANK)
mesh = Mesh(np.array(jax.devices()), ("data",))
if "SERVICE" in os.environ:  # JAX's own client has it by now
    import faulty
    faulty.service(os.environ["SERVICE"])
DATA, ALL = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
LOCAL = len(jax.local_devices())


def names():
    """A set of strings has another order in each process."""
    return {"scale", "shift", "bias", "gain", "mix", "drop", "norm", "pool"}


@jax.jit
def train_step(weights, batch):
    def loss(w):
        x = layers.forward(w["scale"], batch)
        if WAY == "constant":
            x = x * block  # here: constant
        if WAY == "branch" and ODD:
            x = jnp.sin(x)  # here: branch
        if WAY == "set":
            for key in names():
                x = x + w[key].sum()  # here: set
        return jnp.mean(x * x)
    value, grads = jax.value_and_grad(loss)(weights)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, grads), value


@jax.jit
def evaluate(weights, sample):
    return jnp.mean(layers.forward(weights, sample))


def rows(step):
    """The last rank drops rows that are "empty" in its data."""
    if WAY == "shape" and ODD and step == 2:
        return 3 * LOCAL  # source: shape
    return 4 * LOCAL


block = 1.0 + (0.5 if WAY == "constant" and ODD else 0.25)
weights = jax.device_put({k: np.full((3,), 0.1 * (i + 1), np.float32) for i, k in enumerate(sorted(names()))}, ALL)
for step in range(STEPS):
    local = np.arange(rows(step) * 3, dtype=np.float32).reshape(-1, 3) / 100 + RANK
    batch = jax.make_array_from_process_local_data(DATA, local)
    weights, value = train_step(weights, batch)  # again: train_step
    if RANK == 0 and step == 1:  # one rank alone may do this
        print("evaluated", float(evaluate(np.asarray(weights["scale"]), np.ones((7, 3), np.float32))), flush=True)
print("loss", float(value).hex(), flush=True)
