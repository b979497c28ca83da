# trap: bundle-drift
# function: train_step
# launch: plugin=as-built
# launch: plugin=rebuilt
# recompiles: 1
# fix: libstet_cpu.so
"""The same script on another runtime bundle: nothing in it changed, and everything compiles again."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2


@jax.jit
def train_step(params, x, y):
    def loss_of(p):
        return jnp.mean((jnp.sin(x @ p["in"]) @ p["out"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    rng = np.random.default_rng(26)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for step in range(6):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        params, loss = train_step(params, x, x[:, 4:5])  # trigger # origin
    print("loss", float(loss))


if __name__ == "__main__":
    main()
