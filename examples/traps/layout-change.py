# trap: layout-change
# run: libtpu
# function: project
# recompiles: 1
# fix: layout
"""Weights come from the checkpoint in one layout and from the trainer in another."""

import os

os.environ.update(TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v6e-8", TPU_WORKER_HOSTNAMES="localhost")
os.environ.update(ALLOW_MULTIPLE_LIBTPU_LOAD="1", JAX_PLATFORMS="cpu")

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding

WIDTH = 128  # size: 128 256
BATCH = 32  # size: 16 32 64


def project(weights, x):
    return jnp.tanh(x @ weights)  # origin


def main():
    topology = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
    where = SingleDeviceSharding(topology.devices[0])
    weights = jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32, sharding=where)
    x = jax.ShapeDtypeStruct((BATCH, WIDTH), jnp.float32, sharding=where)
    for order in [(0, 1), (1, 0)]:
        stored = Format(Layout(major_to_minor=order), where)
        step = jax.jit(project, in_shardings=(stored, where))
        step.lower(weights, x).compile()  # trigger
        print("compiled for weights", order)


if __name__ == "__main__":
    main()
