# trap: python-counter
# function: train_step
# recompiles: 7
# fix: step, carry
"""The step number is a Python int in the module: the noise schedule bakes it into every program."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 12  # size: 8..32 by 4


class Model:
    """A regression model that anneals its input noise by the number of calls so far."""

    def __init__(self, rng):
        self.calls = 0
        self.params = {
            "w": rng.normal(size=(6, WIDTH)).astype(np.float32) * 0.3,
            "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
        }

    def train(self, x, y, noise):
        self.calls += 1
        self.params, loss = train_step(self.params, x, y, noise, self.calls)  # trigger
        return loss


@functools.partial(jax.jit, static_argnums=4)
def train_step(params, x, y, noise, calls):
    def loss_of(p):
        noisy = x + noise / (calls + 10)  # origin
        return jnp.mean((jax.nn.relu(noisy @ p["w"]) @ p["out"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    rng = np.random.default_rng(2)
    model = Model(rng)
    for step in range(8):
        x = rng.normal(size=(BATCH, 6)).astype(np.float32)
        noise = rng.normal(size=(BATCH, 6)).astype(np.float32)
        loss = model.train(x, x.sum(1, keepdims=True), noise)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
