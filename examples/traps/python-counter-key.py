# trap: python-counter
# function: dropout_step
# recompiles: 5
# fix: step, array
"""The random key of each step is folded in from a Python step number that jit takes as static."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 24  # size: 8..48 by 8
BATCH = 8  # size: 4..16 by 4


@functools.partial(jax.jit, static_argnames=("step",))
def dropout_step(weights, key, x, step):
    keep = jax.random.bernoulli(jax.random.fold_in(key, step), 0.8, (BATCH, WIDTH))  # origin
    grad = jax.grad(lambda w: jnp.mean(((x @ w) * keep) ** 2))(weights)
    return weights - 0.1 * grad


def main():
    rng = np.random.default_rng(42)
    key = jax.random.key(7)
    weights = rng.normal(size=(5, WIDTH)).astype(np.float32)
    for step in range(100, 106):
        x = rng.normal(size=(BATCH, 5)).astype(np.float32)
        weights = dropout_step(weights, key, x, step=step)  # trigger
    print("norm", float(np.linalg.norm(weights)))


if __name__ == "__main__":
    main()
