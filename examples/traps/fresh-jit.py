# trap: fresh-jit
# recompiles: 5
# fix: outside
"""jax.jit is called on a new lambda in every turn of the loop."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2


def loss_of(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["in"]) @ params["out"] - y) ** 2)


def main():
    rng = np.random.default_rng(22)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for step in range(6):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        gradient = jax.jit(lambda p, a, b: jax.grad(loss_of)(p, a, b))  # origin
        grads = gradient(params, x, x[:, 1:2])  # trigger
        params = jax.tree.map(lambda p, g: p - 0.05 * np.asarray(g), params, grads)
    print("norm", float(np.linalg.norm(params["in"])))


if __name__ == "__main__":
    main()
