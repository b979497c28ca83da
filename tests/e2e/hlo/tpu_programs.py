"""Programs that libtpu compiles ahead of time and dumps: what TPU users have lying around.

Usage: tpu_programs.py FOLDER: XLA's own dump (text beside proto, before and after its passes) of each program
below lands there: tiled layouts, memory spaces, fusions, asynchronous copies and collectives, Pallas kernels,
host transfers, and fields newer than jaxlib's XLA knows."""

import os
import sys

FOLDER = sys.argv[1]
os.environ.update(JAX_PLATFORMS="tpu,cpu", TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v6e-8",
                  TPU_WORKER_HOSTNAMES="localhost", ALLOW_MULTIPLE_LIBTPU_LOAD="1",
                  XLA_FLAGS=f"--xla_dump_to={FOLDER} --xla_dump_hlo_as_text --xla_dump_hlo_as_proto "
                            "--xla_dump_large_constants")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

TOPOLOGY = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
MESH = Mesh(np.array(TOPOLOGY.devices).reshape(4, 2), ("d", "m"))
ONE = SingleDeviceSharding(TOPOLOGY.devices[0])
SPECIAL = np.array([np.nan, np.inf, -np.inf, 1e-30] * 32, np.float32)


def S(*shape, dtype=jnp.float32, sharding=ONE):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)


def N(*axes):
    return NamedSharding(MESH, P(*axes))


def kernel(x, y, o):
    o[...] = x[...] + y[...]


def collectives(x):
    return (lax.psum(x, "d"), lax.all_gather(x, "d", tiled=True), lax.ppermute(x, "d", [(i, (i + 1) % 4) for i in range(4)]),
            lax.all_to_all(x, "m", 1, 0, tiled=True), lax.psum_scatter(x, "d", tiled=True))


COLLECTIVES = jax.shard_map(collectives, mesh=MESH, in_specs=P("d", None),
                            out_specs=(P(), P(), P("d"), P("d"), P("d")), check_vma=False)
PROGRAMS = {
    "matmul": (lambda x, w: jnp.tanh(x @ w), S(512, 512), S(512, 512)),
    "grad": (jax.grad(lambda w, x: (jnp.sin(x @ w) ** 2).mean()), S(256, 256), S(64, 256)),
    "bf16": (lambda x, w: jax.nn.softmax(x @ w), S(256, 256, dtype=jnp.bfloat16), S(256, 256, dtype=jnp.bfloat16)),
    "scan": (lambda x: lax.scan(lambda c, v: (c * 0.9 + v, c.sum()), jnp.zeros(128), x), S(16, 128)),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * 2], x), S(dtype=jnp.int32), S(1024)),
    "sort": (lambda x: (jnp.sort(x, axis=0), lax.top_k(x, 4)), S(64, 128)),
    "scatter": (lambda x, i, u: x.at[i].add(u), S(64, 128), S(8, dtype=jnp.int32), S(8, 128)),
    "pallas": (lambda x, y: pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x, y),
               S(8, 128), S(8, 128)),
    "sharded": (lambda x, w: lax.with_sharding_constraint(x @ w, N("d", "m")).sum(0),
                S(128, 256, sharding=N("d")), S(256, 128, sharding=N(None, "m"))),
    "collectives": (COLLECTIVES, S(64, 256, sharding=N("d"))),
    "conv": (lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
             S(8, 16, 16, 32), S(3, 3, 32, 64)),
    "constants": (lambda x: x @ np.eye(128, dtype=np.float32)[::-1] + SPECIAL, S(8, 128)),
    "int4": (lambda x, w: lax.dot(x, w.astype(jnp.int8), preferred_element_type=jnp.int32),
             S(128, 128, dtype=jnp.int8), S(128, 128, dtype=jnp.int4)),
    "callback": (lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((128,), jnp.float32), x), S(128)),
    "fft": (lambda x: jnp.fft.fft(x).real, S(128)),
    "offload": (lambda x: jax.device_put(x * 2, NamedSharding(MESH, P("d"), memory_kind="pinned_host")),
                S(64, 128, sharding=N("d"))),
}

for name, (f, *args) in PROGRAMS.items():
    jax.jit(f, donate_argnums=0 if name == "scatter" else ()).trace(*args).lower(lowering_platforms=("tpu",)).compile()
