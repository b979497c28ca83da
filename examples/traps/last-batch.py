# trap: last-batch
# function: train_step
# recompiles: 1
# fix: drop, pad
"""The data set does not divide by the batch size: the last batch of each epoch is short."""

import jax
import jax.numpy as jnp
import numpy as np

EXAMPLES = 90  # size: 70 75 105 107
BATCH = 16  # size: 16 20 24
WIDTH = 16  # size: 8..48 by 8


def loss_of(params, x, y):
    hidden = jax.nn.relu(x @ params["in"] + params["bias"])  # origin
    return jnp.mean((hidden @ params["out"] - y) ** 2)


@jax.jit
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(EXAMPLES, 10)).astype(np.float32)
    y = np.sin(x.sum(1, keepdims=True)).astype(np.float32)
    params = {
        "in": rng.normal(size=(10, WIDTH)).astype(np.float32) * 0.2,
        "bias": np.zeros(WIDTH, np.float32),
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.2,
    }
    for epoch in range(3):
        order = rng.permutation(EXAMPLES)
        for at in range(0, EXAMPLES, BATCH):
            rows = order[at : at + BATCH]
            params, loss = train_step(params, x[rows], y[rows])  # trigger
        print("epoch", epoch, "loss", float(loss))


if __name__ == "__main__":
    main()
