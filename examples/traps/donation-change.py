# trap: donation-change
# run: libtpu
# function: train_step
# recompiles: 1
# fix: donate
"""The trainer donates its parameters, the checkpointing step forgets to."""

import os

os.environ.update(TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v6e-8", TPU_WORKER_HOSTNAMES="localhost")
os.environ.update(ALLOW_MULTIPLE_LIBTPU_LOAD="1", JAX_PLATFORMS="cpu")

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

WIDTH = 128  # size: 128 256
BATCH = 32  # size: 16 32 64


def loss_of(params, x):
    return jnp.mean((jax.nn.relu(x @ params["in"]) @ params["out"] - x) ** 2)


def train_step(params, x):
    loss, grads = jax.value_and_grad(loss_of)(params, x)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss  # origin


def main():
    topology = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
    where = SingleDeviceSharding(topology.devices[0])

    def described(*dims):
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=where)

    params = {"in": described(WIDTH, WIDTH), "out": described(WIDTH, WIDTH)}
    for purpose in ["train", "checkpoint"]:
        donated = (0,) if purpose == "train" else ()
        step = jax.jit(train_step, donate_argnums=donated)
        compiled = step.lower(params, described(BATCH, WIDTH)).compile()  # trigger
        print(purpose, compiled.memory_analysis().alias_size_in_bytes, "bytes aliased")


if __name__ == "__main__":
    main()
