# trap: grad-create-accumulate
# function: micro_step
# recompiles: 1
# fix: zeros
"""Gradients are accumulated over micro-batches; the first one of each cycle creates them."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2
CYCLE = 3  # size: 2 3 4


@jax.jit
def micro_step(params, acc, x, y):
    def loss_of(p):
        return jnp.mean((jnp.tanh(x @ p["in"]) @ p["out"] - y) ** 2)

    grads = jax.grad(loss_of)(params)
    if acc is None:
        return grads
    return jax.tree.map(jnp.add, acc, grads)  # origin


@jax.jit
def apply(params, acc):
    return jax.tree.map(lambda p, g: p - 0.05 * g / CYCLE, params, acc)


def main():
    rng = np.random.default_rng(14)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for step in range(6):
        acc = None
        for _ in range(CYCLE):
            x = rng.normal(size=(BATCH, 7)).astype(np.float32)
            acc = micro_step(params, acc, x, x.mean(1, keepdims=True))  # trigger
        params = apply(params, acc)
    print("norm", float(np.linalg.norm(params["in"])))


if __name__ == "__main__":
    main()
