# trap: identical-rehash
# function: train_step
# recompiles: 4
# fix: __hash__
"""The configuration is a static argument without equality: JAX takes each copy for another one."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2


class Config:
    def __init__(self, rate, power):
        self.rate = rate
        self.power = power


@functools.partial(jax.jit, static_argnums=0)
def train_step(config, params, x, y):
    def loss_of(p):
        error = jax.nn.relu(x @ p["in"]) @ p["out"] - y
        return jnp.mean(jnp.abs(error) ** config.power)

    grads = jax.grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - config.rate * g, params, grads)


def main():
    rng = np.random.default_rng(23)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for epoch in range(5):
        config = Config(rate=0.02, power=2)
        for _ in range(3):
            x = rng.normal(size=(BATCH, 7)).astype(np.float32)
            params = train_step(config, params, x, x[:, 2:3])  # trigger # origin
    print("norm", float(np.linalg.norm(params["in"])))


if __name__ == "__main__":
    main()
