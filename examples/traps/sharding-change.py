# trap: sharding-change
# run: libtpu
# function: forward
# recompiles: 1
# fix: PartitionSpec
"""A server compiles one model twice: warm-up and serving disagree on how the batch is sharded."""

import os

os.environ.update(TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v6e-8", TPU_WORKER_HOSTNAMES="localhost")
os.environ.update(ALLOW_MULTIPLE_LIBTPU_LOAD="1", JAX_PLATFORMS="cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

WIDTH = 256  # size: 128 256 384
BATCH = 64  # size: 32 64 128


def forward(params, batch):
    hidden = jax.nn.relu(batch @ params["in"])  # origin
    return hidden @ params["out"]


def compile_for(mesh, batch_spec, weight_spec):
    def described(spec, *dims):
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=NamedSharding(mesh, spec))

    params = {"in": described(weight_spec, WIDTH, WIDTH), "out": described(weight_spec, WIDTH, WIDTH)}
    return jax.jit(forward).lower(params, described(batch_spec, BATCH, WIDTH)).compile()  # trigger


def main():
    topology = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
    mesh = Mesh(np.array(topology.devices).reshape(4, 2), ("data", "model"))
    weights = PartitionSpec(None, "model")
    for batch_spec in [PartitionSpec("data", None), PartitionSpec(("data", "model"), None)]:
        compiled = compile_for(mesh, batch_spec, weights)
        print("compiled", batch_spec, compiled.memory_analysis().temp_size_in_bytes, "bytes of temporaries")


if __name__ == "__main__":
    main()
