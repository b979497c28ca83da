"""Row H: a Pallas kernel, lowered for a TPU with two sizes. Its body follows from the size.

usage: h_kernel.py FOLDER      writes small.mlir, large.mlir and other.mlir
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def scale(x_ref, out_ref, *, factor):
    out_ref[...] = jnp.tanh(x_ref[...]) * factor


def program(rows, factor):
    def squash(x):
        call = pl.pallas_call(lambda x_ref, out_ref: scale(x_ref, out_ref, factor=factor),
                              out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
                              grid=(rows // 8,),
                              in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
                              out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)))
        return call(x).sum()

    x = jax.ShapeDtypeStruct((rows, 128), jnp.float32)
    return jax.jit(squash).trace(x).lower(lowering_platforms=("tpu",)).as_text(debug_info=True)


folder = pathlib.Path(sys.argv[1])
for name, rows, factor in (("small", 16, 2.0), ("large", 64, 2.0), ("other", 16, 3.0)):
    (folder / f"{name}.mlir").write_text(program(rows, factor))
