# trap: none
# recompiles: 0
"""Training with an evaluation every few steps: the evaluation has a program of its own."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2
EVERY = 5  # size: 4 5 6


def loss_of(params, x, y):
    return jnp.mean((jax.nn.relu(x @ params["in"]) @ params["out"] - y) ** 2)


@jax.jit
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


@jax.jit
def evaluate(params, x, y):
    return loss_of(params, x, y), jnp.max(jnp.abs(params["in"]))


def main():
    rng = np.random.default_rng(27)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    held_out = rng.normal(size=(4 * BATCH, 7)).astype(np.float32)
    for step in range(15):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        params, loss = train_step(params, x, x[:, 3:4])
        if step % EVERY == EVERY - 1:
            held_loss, largest = evaluate(params, held_out, held_out[:, 3:4])
            print("step", step, "loss", float(held_loss), float(largest))


if __name__ == "__main__":
    main()
