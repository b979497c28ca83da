# trap: fresh-jit
# recompiles: 4
# fix: outside
"""A helper jits what it is given, and is called in every step with a lambda."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


def apply_gradient(objective, weights, x):
    step = jax.jit(lambda w, a: w - 0.1 * jax.grad(objective)(w, a))  # origin
    return step(weights, x)  # trigger


def main():
    rng = np.random.default_rng(55)
    weights = rng.normal(size=(WIDTH, 1)).astype(np.float32)
    for _ in range(5):
        x = rng.normal(size=(BATCH, WIDTH)).astype(np.float32)
        weights = apply_gradient(lambda w, a: jnp.mean((a @ w - 1.0) ** 2), weights, x)
    print("norm", float(np.linalg.norm(weights)))


if __name__ == "__main__":
    main()
