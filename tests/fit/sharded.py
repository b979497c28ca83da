"""Functions that leave the sharding of their results to the compiler; prints the shardings.

usage: sharded.py [--by-hand TOPOLOGY] [NAME…]"""
import json
import os
import sys

BY_HAND = sys.argv[2] if len(sys.argv) > 1 and sys.argv[1] == "--by-hand" else None
NAMES = sys.argv[3:] if BY_HAND else sys.argv[1:]
if BY_HAND:
    os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost",
                      TPU_ACCELERATOR_TYPE="v6e-8", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

if BY_HAND:
    from jax.experimental import topologies
    devices = topologies.get_topology_desc(platform="tpu", topology_name=BY_HAND).devices
else:
    devices = jax.devices()
mesh = Mesh(np.array(devices).reshape(4, 2), ("x", "y"))
SHAPES = {"rows": ((64, 32), P("x", None)), "columns": ((32, 64), P(None, "y")), "both": ((64, 32), P("x", "y")),
          "bias": ((32,), P()), "stack": ((8, 16, 32), P("x", None, "y"))}
FUNCTIONS = {
    "product": (lambda a, b: a @ b, "rows", "columns"),
    "gram": (lambda a: a.T @ a, "both"),
    "scale": (lambda a, b: a * b, "both", "bias"),
    "update": (lambda a, b: b - 0.1 * a.sum(0), "both", "bias"),
    "reshape": (lambda a: a.reshape(-1, 32), "stack"),
    "concatenate": (lambda a, b: jnp.concatenate([a, b.reshape(1, 32)], 0), "both", "bias"),
    "scan": (lambda a, b: jax.lax.scan(lambda h, w: (jnp.tanh(h @ w.T @ w), h.sum()), b, a), "stack", "bias"),
    "sort": (lambda a: jnp.sort(a, 0), "rows"),
    "whole": (lambda a: a.sum(), "both"),
}


def spec(sharding, rank):
    """The parts that each dimension is cut into; all forms of a sharding become the same."""
    return [list(sharding.shard_shape((64,) * rank)), sorted({d.id for d in sharding.device_set})]


found = {}
for name, (function, *arguments) in FUNCTIONS.items():
    if NAMES and name not in NAMES:
        continue
    places = [(SHAPES[a][0], NamedSharding(mesh, SHAPES[a][1])) for a in arguments]
    if BY_HAND:
        shapes = [jax.ShapeDtypeStruct(s, jnp.float32, sharding=p) for s, p in places]
        compiled = jax.jit(function).trace(*shapes).lower(lowering_platforms=("tpu",)).compile()
        ranks = [x.ndim for x in jax.tree.leaves(jax.eval_shape(function, *shapes))]
        found[name] = [spec(s, r) for s, r in zip(jax.tree.leaves(compiled.output_shardings), ranks)]
    else:
        arrays = [jax.device_put(np.ones(s, np.float32), p) for s, p in places]
        found[name] = [spec(x.sharding, x.ndim) for x in jax.tree.leaves(jax.jit(function)(*arrays))]
print("SHARDINGS " + json.dumps(found))
