"""A small training step compiled ahead of time for a TPU, on a machine that has none.

libtpu is the real TPU compiler; with a topology described by name it compiles anywhere and runs
nothing. The script asks for the same step four times, as a careless training loop would: the last
batch is short, and the learning rate is a Python float that changes.

    stet run -- python examples/aot_train.py
"""

import os

for name, value in {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v6e-8",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_PLATFORMS": "cpu",
}.items():
    os.environ.setdefault(name, value)

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding


def loss(params, tokens):
    x = params["embed"][tokens]
    x = jax.nn.gelu(x @ params["up"]) @ params["down"]
    return jnp.mean((x @ params["embed"].T) ** 2)


def train_step(params, tokens, lr):
    grads = jax.grad(loss)(params, tokens)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


def main():
    topology = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
    where = SingleDeviceSharding(topology.devices[0])

    def shape(dtype, *dims):
        return jax.ShapeDtypeStruct(dims, dtype, sharding=where)

    params = {
        "embed": shape(jnp.float32, 256, 64),
        "up": shape(jnp.float32, 64, 256),
        "down": shape(jnp.float32, 256, 64),
    }
    for batch, lr in [(8, 1e-3), (8, 9e-4), (5, 9e-4), (8, 1e-3)]:
        step = jax.jit(lambda p, t: train_step(p, t, lr))
        step.trace(params, shape(jnp.int32, batch, 32)).lower().compile()
        print(f"compiled for batch {batch}, lr {lr}", flush=True)


if __name__ == "__main__":
    main()
