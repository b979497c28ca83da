# trap: optimizer-scalar
# function: train_step
# recompiles: 5
# fix: inject_hyperparams
"""The optimizer is made anew with each learning rate of the schedule, and the rate is baked in."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2


def loss_of(params, x, y):
    return jnp.mean((jax.nn.relu(x @ params["in"]) @ params["out"] - y) ** 2)


@functools.partial(jax.jit, static_argnums=0)
def train_step(rate, params, state, x, y):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optax.adamw(rate).update(grads, state, params)  # origin
    return optax.apply_updates(params, updates), state, loss


def main():
    rng = np.random.default_rng(16)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    schedule = optax.linear_schedule(1e-2, 1e-3, 6)
    state = optax.adamw(1e-2).init(params)
    for step in range(6):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        rate = float(schedule(step))
        params, state, loss = train_step(rate, params, state, x, x[:, :1])  # trigger
    print("loss", float(loss))


if __name__ == "__main__":
    main()
