"""Writes what JAX would send a plugin: OUT/step.mlirbc (VHLO, with locations) and OUT/options.pb.

usage: make_program.py OUT PLATFORM [LAYERS [BATCH]]      PLATFORM is tpu or cuda
A training step of a small transformer with momentum; needs no plugin and no device.
"""
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"  # lowering only: leave the real plugins alone

import jax
import jax.numpy as jnp
from jax._src import compiler
from jaxlib import _jax
from jaxlib.mlir.dialects import stablehlo

WIDTH, LENGTH, BATCH = 64, 32, 4


def block(params, x):
    q, k, v = jnp.split(x @ params["qkv"], 3, axis=-1)
    weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) / WIDTH**0.5)
    x = x + (weights @ v) @ params["out"]
    return x + jax.nn.gelu(x @ params["up"]) @ params["down"]


def loss(params, x, y):
    for layer in params:
        x = block(layer, x)
    return jnp.mean((x - y) ** 2)


@jax.jit
def step(params, momentum, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    params = jax.tree.map(lambda p, m: p - 1e-3 * m, params, momentum)
    return params, momentum, value


def main():
    out, platform = pathlib.Path(sys.argv[1]), sys.argv[2]
    layers = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    batch = int(sys.argv[4]) if len(sys.argv) > 4 else BATCH

    def f32(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    layer = {
        "qkv": f32(WIDTH, 3 * WIDTH),
        "out": f32(WIDTH, WIDTH),
        "up": f32(WIDTH, 4 * WIDTH),
        "down": f32(4 * WIDTH, WIDTH),
    }
    data = f32(batch, LENGTH, WIDTH)
    params = [layer] * layers
    lowered = step.trace(params, params, data, data).lower(lowering_platforms=(platform,))
    text = lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True)
    program = _jax.mlir.serialize_portable_artifact(text, stablehlo.get_current_version())
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    out.mkdir(parents=True, exist_ok=True)
    (out / "step.mlirbc").write_bytes(program)
    (out / "options.pb").write_bytes(options.SerializeAsString())


if __name__ == "__main__":
    main()
