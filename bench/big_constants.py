"""big_constants.py OUT: VHLO of a program that is nearly all constants (64 MB of f32)."""
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import numpy as np  # noqa: E402
from jaxlib import _jax  # noqa: E402
from jaxlib.mlir.dialects import stablehlo  # noqa: E402

weights = np.random.RandomState(0).randn(4, 2048, 2048).astype(np.float32)
module = jax.jit(lambda x: x + weights).lower(jax.ShapeDtypeStruct(weights.shape, weights.dtype)).compiler_ir()
with open(sys.argv[1], "wb") as out:
    out.write(_jax.mlir.serialize_portable_artifact(module, stablehlo.get_current_version()))
