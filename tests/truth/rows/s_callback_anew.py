"""Row S: a function that calls back into Python is jitted in every turn."""
import jax
import jax.numpy as jnp
import numpy as np


def table(values):
    return np.interp(values, [0.0, 1.0], [1.0, 3.0]).astype(np.float32)


def relax(state):
    @jax.jit
    def smooth(state):
        return jax.pure_callback(table, jax.ShapeDtypeStruct(state.shape, state.dtype), state) * 0.25

    return smooth(state)


state = jnp.linspace(0.0, 1.0, 7)
for turn in range(8):
    state = relax(state)
print(float(state.sum()))
