"""Writes constants.*: one program with a large constant, one with a small, as each format has them.

usage: python - < data/make_constants.py   (an environment with jax; in tests/intercept)
"""
import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax._src.lib.mlir.dialects import hlo

floats = np.frombuffer(b"SECRETS!" * 512, np.float32)
ints = np.arange(1, 2049, dtype=np.int32).reshape(32, 64) * 7919
small = np.frombuffer(b"smallone" * 4, np.float32)


def f(x, i):
    return x + floats, i + ints, x[:8] + small


lowered = jax.jit(f).lower(jax.ShapeDtypeStruct((1024,), np.float32), jax.ShapeDtypeStruct((32, 64), np.int32))
with open("data/constants.hlo.pb", "wb") as out:
    out.write(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
module = lowered.compiler_ir("stablehlo")
with open("data/constants.mlir", "w") as out:
    out.write(str(module))
with open("data/constants.mlirbc", "wb") as out:
    out.write(hlo.serialize_portable_artifact(module, hlo.get_current_version(), True))
