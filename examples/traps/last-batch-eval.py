# trap: last-batch
# function: count_correct
# recompiles: 1
# fix: drop, pad
"""Evaluation over a held-out set that does not divide by the batch size, after every epoch."""

import jax
import jax.numpy as jnp
import numpy as np

HELD_OUT = 50  # size: 42 50 58
BATCH = 16  # size: 12 15 16
WIDTH = 12  # size: 8..24 by 4


def logits_of(params, x):
    return jax.nn.relu(x @ params["in"]) @ params["out"]


@jax.jit
def fit(params, x, y):
    def loss_of(p):
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits_of(p, x)) * y, axis=-1))

    return jax.tree.map(lambda p, g: p - 0.2 * g, params, jax.grad(loss_of)(params))


@jax.jit
def count_correct(params, x, y):
    guess = jnp.argmax(logits_of(params, x), axis=-1)
    return jnp.sum(guess == y)


def main():
    rng = np.random.default_rng(44)
    params = {
        "in": rng.normal(size=(6, WIDTH)).astype(np.float32) * 0.4,
        "out": rng.normal(size=(WIDTH, 3)).astype(np.float32) * 0.4,
    }
    held_x = rng.normal(size=(HELD_OUT, 6)).astype(np.float32)
    held_y = held_x[:, :3].argmax(1).astype(np.int32)
    for epoch in range(3):
        for _ in range(4):
            x = rng.normal(size=(BATCH, 6)).astype(np.float32)
            params = fit(params, x, np.eye(3, dtype=np.float32)[x[:, :3].argmax(1)])
        correct = 0
        for at in range(0, HELD_OUT, BATCH):
            correct += int(count_correct(params, held_x[at : at + BATCH], held_y[at : at + BATCH]))  # trigger
        print("epoch", epoch, "correct", correct)


if __name__ == "__main__":
    main()
