# trap: hidden-branch
# function: train_step
# recompiles: 1
# fix: every step
"""Every few steps the training step also computes statistics: code that first runs late."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 16  # size: 8..32 by 8
EVERY = 6  # size: 5 6 7


def forward(params, x):
    hidden = jax.nn.relu(x @ params["in"] + params["bias"])
    return hidden, hidden @ params["out"]


@functools.partial(jax.jit, static_argnames="report")
def train_step(params, x, y, report):
    def loss_of(p):
        return jnp.mean((forward(p, x)[1] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(params)
    metrics = {"loss": loss}
    if report:
        hidden, _ = forward(params, x)
        metrics["dead"] = jnp.mean(jnp.all(hidden <= 0, axis=0))  # origin
        metrics["largest"] = jnp.max(jnp.abs(grads["in"]))  # origin
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), metrics


def main():
    rng = np.random.default_rng(11)
    params = {
        "in": rng.normal(size=(6, WIDTH)).astype(np.float32) * 0.3,
        "bias": np.zeros(WIDTH, np.float32),
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for step in range(15):
        x = rng.normal(size=(BATCH, 6)).astype(np.float32)
        report = step % EVERY == EVERY - 1
        params, metrics = train_step(params, x, np.cos(x[:, :1]), report=report)  # trigger
        if report:
            print("step", step, {k: float(v) for k, v in metrics.items()})


if __name__ == "__main__":
    main()
