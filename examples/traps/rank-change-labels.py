# trap: rank-change
# function: train_step
# recompiles: 1
# fix: `labels`
"""One loader delivers labels as a vector, another as a column."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..32 by 8
BATCH = 12  # size: 6..24 by 6


@jax.jit
def train_step(weights, inputs, labels):
    def loss_of(w):
        scores = jnp.tanh(inputs @ w["a"]) @ w["b"]
        wanted = labels.astype(jnp.float32).reshape(scores.shape)  # origin
        return jnp.mean((scores - wanted) ** 2)

    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss_of)(weights))


def main():
    rng = np.random.default_rng(45)
    weights = {
        "a": rng.normal(size=(5, WIDTH)).astype(np.float32) * 0.4,
        "b": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.4,
    }
    for step in range(8):
        inputs = rng.normal(size=(BATCH, 5)).astype(np.float32)
        labels = (inputs[:, 0] > 0).astype(np.int32)
        if step in (5, 6):
            labels = labels[:, None]
        weights = train_step(weights, inputs, labels)  # trigger
    print("norm", float(np.linalg.norm(weights["a"])))


if __name__ == "__main__":
    main()
