# trap: baked-constant
# function: train_step
# recompiles: 3
# fix: array
"""The learning rate is a Python float closed over by the step, which is built anew when it decays."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 24  # size: 8..64 by 8
BATCH = 16  # size: 8..32 by 8
DECAY = 0.7  # size: 0.6 0.65 0.8


def predict(params, x):
    return jnp.tanh(x @ params["w"] + params["b"]) @ params["out"]


def make_step(lr):
    @jax.jit
    def train_step(params, x, y):
        def loss_of(p):
            return jnp.mean((predict(p, x) - y) ** 2)

        loss, grads = jax.value_and_grad(loss_of)(params)
        params = jax.tree.map(lambda p, g: p - lr * g, params, grads)  # origin
        return params, loss

    return train_step


def main():
    rng = np.random.default_rng(0)
    params = {
        "w": rng.normal(size=(8, WIDTH)).astype(np.float32) * 0.3,
        "b": np.zeros(WIDTH, np.float32),
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    lr = 0.1
    for epoch in range(4):
        step = make_step(lr)
        for _ in range(5):
            x = rng.normal(size=(BATCH, 8)).astype(np.float32)
            y = x.sum(1, keepdims=True)
            params, loss = step(params, x, y)  # trigger
        print("epoch", epoch, "loss", float(loss))
        lr = lr * DECAY


if __name__ == "__main__":
    main()
