"""Row Z: a setting of JAX widens the types of the same NumPy arrays from the fifth turn on."""
import contextlib

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def settle(level, inflow):
    return level * 0.9 + jnp.sum(inflow)


def careful(turn):
    return jax.enable_x64(True) if turn >= 4 else contextlib.nullcontext()


gauge = np.linspace(0.0, 1.0, 6)
for turn in range(8):
    with careful(turn):
        height = settle(np.zeros(3), gauge)
print(float(height[0]))
