# trap: dtype-change
# function: update
# recompiles: 1
# fix: weak, asarray
"""The momentum scale starts as a Python float (weakly typed) and comes back as a real array."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 20  # size: 8..48 by 4
BATCH = 8  # size: 6..24 by 2


def loss_of(w, x, y):
    return jnp.mean((jnp.tanh(x) @ w - y) ** 2)


@jax.jit
def update(w, scale, x, y):
    loss, grad = jax.value_and_grad(loss_of)(w, x, y)
    w = w - scale * grad.astype(jnp.bfloat16).astype(jnp.float32)  # origin
    scale = jnp.where(loss > 1.0, scale * 1.05, scale * 0.9).astype(jnp.float32)
    return w, scale, loss


def main():
    rng = np.random.default_rng(7)
    w = rng.normal(size=(WIDTH, 1)).astype(np.float32)
    scale = 0.05
    for step in range(8):
        x = rng.normal(size=(BATCH, WIDTH)).astype(np.float32)
        w, scale, loss = update(w, scale, x, x.sum(1, keepdims=True))  # trigger
    print("loss", float(loss), "scale", float(scale))


if __name__ == "__main__":
    main()
