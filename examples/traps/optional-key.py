# trap: optional-key
# function: train_step
# recompiles: 1
# fix: weight, zeros
"""Some batches carry example weights, most do not."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 10  # size: 6..24 by 2


def loss_of(params, batch):
    hidden = jnp.tanh(batch["x"] @ params["in"])
    error = (hidden @ params["out"] - batch["y"]) ** 2
    if "weight" in batch:
        error = error * batch["weight"][:, None]  # origin
    return jnp.mean(error)


@jax.jit
def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_of)(params, batch)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    rng = np.random.default_rng(12)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for step in range(12):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        batch = {"x": x, "y": x.sum(1, keepdims=True)}
        if step % 5 == 3:
            batch["weight"] = rng.uniform(size=BATCH).astype(np.float32)
        params, loss = train_step(params, batch)  # trigger
    print("loss", float(loss))


if __name__ == "__main__":
    main()
