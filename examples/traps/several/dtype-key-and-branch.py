# trap: dtype-change
# also: optional-key hidden-branch
# function: train_step
# recompiles: 1
# fix: float32
"""A second data source: labels of another type, a field more, and a penalty that is switched on for it."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 10  # size: 6..20 by 2


def loss_of(params, batch, penalise):
    hidden = jnp.tanh(batch["x"] @ params["in"])
    error = (hidden @ params["out"])[:, 0] - batch["y"]  # origin
    if "weight" in batch:
        error = error * batch["weight"]  # origin
    loss = jnp.mean(error**2)
    if penalise:
        loss = loss + 1e-3 * jnp.sum(jnp.abs(params["out"]))  # origin
    return loss


@functools.partial(jax.jit, static_argnums=2)
def train_step(params, batch, penalise):
    loss, grads = jax.value_and_grad(loss_of)(params, batch, penalise)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    rng = np.random.default_rng(32)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for step in range(12):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        batch = {"x": x, "y": x[:, 0]}
        other = step >= 7
        if other:
            batch["y"] = (x[:, 0] > 0).astype(np.int32)
            batch["weight"] = np.full(BATCH, 0.5, np.float32)
        params, loss = train_step(params, batch, other)  # trigger
    print("loss", float(loss))


if __name__ == "__main__":
    main()
