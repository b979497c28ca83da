"""Row A: three functions under pmap. JAX gives all of their programs one name."""
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.pmap, axis_name="replica")
def fit(theta, rows):
    slope = jax.grad(lambda t: jnp.mean((rows @ t) ** 2))(theta)
    return theta - 0.05 * jax.lax.pmean(slope, "replica")


@partial(jax.pmap, axis_name="replica")
def error(theta, rows):
    return jax.lax.pmean(jnp.mean((rows @ theta) ** 2), "replica")


@jax.pmap
def sample(theta, seed):
    return theta + jax.random.normal(seed, theta.shape)


rows = jnp.ones((1, 12, 6))
theta = fit(jnp.ones((1, 6)), rows)
theta = fit(theta, rows)
for turn in range(12):
    theta = fit(theta, rows)
    if turn == 6:
        print("held out", error(theta, rows[:, :5]))
print("draw", sample(theta, jax.random.split(jax.random.key(3), 1)).shape)
