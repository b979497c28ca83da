# trap: optimizer-state-init
# function: train_step
# recompiles: 1
# benign: yes
# fix: nothing
"""Momentum does not exist before the first step: the second step has its own program, and that is all."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2


@jax.jit
def train_step(params, momentum, x, y):
    def loss_of(p):
        return jnp.mean((jax.nn.gelu(x @ p["in"]) @ p["out"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(params)
    if momentum is None:
        momentum = grads
    else:
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)  # origin
    return jax.tree.map(lambda p, m: p - 0.02 * m, params, momentum), momentum, loss


def main():
    rng = np.random.default_rng(15)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    momentum = None
    for step in range(10):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        params, momentum, loss = train_step(params, momentum, x, x.min(1, keepdims=True))  # trigger
    print("loss", float(loss))


if __name__ == "__main__":
    main()
