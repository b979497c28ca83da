# trap: optimizer-scalar
# function: adam_step
# recompiles: 4
# fix: step
"""A hand-written Adam computes its bias correction in Python from a static step number."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@functools.partial(jax.jit, static_argnames="t")
def adam_step(weights, first, second, x, t):
    grad = jax.grad(lambda w: jnp.mean((jnp.cos(x @ w) - x[:, :1]) ** 2))(weights)
    first = 0.9 * first + 0.1 * grad
    second = 0.99 * second + 0.01 * grad**2
    corrected = first / (1.0 - 0.9**t)  # origin
    spread = jnp.sqrt(second / (1.0 - 0.99**t)) + 1e-8  # origin
    return weights - 0.01 * corrected / spread, first, second


def main():
    rng = np.random.default_rng(52)
    weights = rng.normal(size=(WIDTH, 1)).astype(np.float32)
    first = second = np.zeros_like(weights)
    for t in range(1, 6):
        x = rng.normal(size=(BATCH, WIDTH)).astype(np.float32)
        weights, first, second = adam_step(weights, first, second, x, t=t)  # trigger
    print("norm", float(np.linalg.norm(weights)))


if __name__ == "__main__":
    main()
