"""Lowers one training step under the real JAX and writes what it would hand to a compiler.

usage: lower.py OUT.mlirbc [knob=value...]   (and OUT.options beside it)
"""
import os
import sys

os.environ["XLA_FLAGS"] = (
    "--xla_force_host_platform_device_count=4 --xla_backend_extra_options="
    + ",".join(f"stet_{i}={i}" for i in range(12))  # a map, which has no order
)
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import compiler
from jax._src.lib.mlir.dialects import hlo
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

KNOBS = dict(lr="1e-3", batch="4", rank="2", dtype="float32", shard="none", donate="no",
             layout="no", option="no", start="2")
KNOBS.update(arg.split("=", 1) for arg in sys.argv[2:])
#LINES


def loss(params, x, y):
    start = int(KNOBS["start"])
    h = x[..., start:start + 8]
    for w, b in params:
        h = jnp.tanh(h @ w + b)
    return jnp.mean((h / 0.7 - y) ** 2)


def step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - float(KNOBS["lr"]) * g, params, grads), value


def array(*shape):
    return jax.ShapeDtypeStruct(shape, KNOBS["dtype"])


def sharding(spec):
    return NamedSharding(Mesh(np.array(jax.devices()).reshape(2, 2), ("d", "m")), spec)


def main():
    lead = (3,) * (int(KNOBS["rank"]) - 2) + (int(KNOBS["batch"]),)
    params = [(array(8, 8), array(8)) for _ in range(2)]
    one = sharding(P())
    where = [[(one, one)] * 2, one, one]
    if KNOBS["shard"] == "x":
        where[1] = sharding(P("d"))
    if KNOBS["layout"] == "yes":
        from jax.experimental.layout import Format, Layout

        where[1] = Format(Layout(major_to_minor=(1, 0)), one)
    jitted = jax.jit(step, in_shardings=where,
                     donate_argnums=(0,) if KNOBS["donate"] == "yes" else ())
    lowered = jitted.lower(params, array(*lead, 16), array(*lead, 8))
    module = lowered.compiler_ir("stablehlo")
    with open(sys.argv[1], "wb") as out:
        out.write(hlo.serialize_portable_artifact(module, hlo.get_current_version(), True))
    flags = {"xla_cpu_enable_fast_math": "true"} if KNOBS["option"] == "yes" else {}
    options = compiler.get_compile_options(num_replicas=1, num_partitions=4,
                                           device_assignment=np.arange(4).reshape(1, 4),
                                           env_options_overrides=flags)
    with open(os.path.splitext(sys.argv[1])[0] + ".options", "wb") as out:
        out.write(options.SerializeAsString())


main()
