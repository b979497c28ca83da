"""Row F: functions with the same body, each jitted once and compiled once."""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def celsius(t):
    return (t - 32.0) / 1.8


@jax.jit
def rescale(t):
    return (t - 32.0) / 1.8


@jax.jit
def looked_up(i):
    return jax.pure_callback(lambda k: np.float32(k) + 1, jax.ShapeDtypeStruct((), jnp.float32), i)


@jax.jit
def recorded(i):
    return jax.pure_callback(lambda k: np.float32(k) - 1, jax.ShapeDtypeStruct((), jnp.float32), i)


half = jax.jit(lambda v: v / 2)
quarter = jax.jit(lambda w: w / 2)
print(celsius(50.0), rescale(59.0), looked_up(3), recorded(3), half(5.0), quarter(5.0))
