# trap: kernel-fallback
# run: libtpu
# function: attend
# recompiles: 1
# fix: kernel
"""A Pallas kernel is used when its block size divides the rows, and plain JAX otherwise."""

import os

os.environ.update(TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v6e-8", TPU_WORKER_HOSTNAMES="localhost")
os.environ.update(ALLOW_MULTIPLE_LIBTPU_LOAD="1", JAX_PLATFORMS="cpu")

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

WIDTH = 128  # size: 128 256
ROWS = 256  # size: 128 256


def scale_kernel(x_ref, gain_ref, out_ref):
    out_ref[...] = jnp.maximum(x_ref[...] * gain_ref[...], 0.0)


def activate(x, gain, block):
    if x.shape[0] % block == 0:
        return pl.pallas_call(scale_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, gain)  # origin
    return jnp.maximum(x * gain, 0.0)  # origin


def main():
    topology = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
    where = SingleDeviceSharding(topology.devices[0])

    def described(*dims):
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=where)

    for block in [64, 96]:

        def attend(x, gain, weights):
            return activate(x @ weights, gain, block)

        lowered = jax.jit(attend).trace(
            described(ROWS, WIDTH), described(1, WIDTH), described(WIDTH, WIDTH)
        ).lower(lowering_platforms=("tpu",))
        lowered.compile()  # trigger
        print("compiled with blocks of", block)


if __name__ == "__main__":
    main()
