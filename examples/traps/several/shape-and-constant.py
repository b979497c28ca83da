# trap: shape-drift
# also: static-argument
# function: train_step
# recompiles: 2
# fix: pad
"""The batch grows with the epochs while the learning rate decays: two causes in each recompile."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
FIRST = 8  # size: 6 8 10 12


def loss_of(params, x, y):
    hidden = jax.nn.relu(x @ params["in"])  # origin
    return jnp.mean((hidden @ params["out"] - y) ** 2)


@functools.partial(jax.jit, static_argnames="lr")
def train_step(params, x, y, lr):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss  # origin


def main():
    rng = np.random.default_rng(31)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    batch, lr = FIRST, 0.05
    for epoch in range(3):
        for _ in range(4):
            x = rng.normal(size=(batch, 7)).astype(np.float32)
            params, loss = train_step(params, x, x[:, :1], lr=lr)  # trigger
        batch, lr = batch * 2 + 1, lr * 0.6
    print("loss", float(loss))


if __name__ == "__main__":
    main()
