# trap: eager-storm
# recompiles: 8+
# fix: jit, `train_step`
"""A training step without jax.jit: every operation of it is a program of its own."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 10  # size: 6..24 by 2


def train_step(params, x, y):
    def loss_of(p):
        return jnp.mean((jax.nn.silu(x @ p["in"]) @ p["out"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    rng = np.random.default_rng(13)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for step in range(12):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        params, loss = train_step(params, x, x.max(1, keepdims=True))
    print("loss", float(loss))


if __name__ == "__main__":
    main()
