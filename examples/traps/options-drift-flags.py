# trap: options-drift
# function: train_step
# launch: XLA_FLAGS=
# launch: XLA_FLAGS=--xla_cpu_enable_fast_math=true
# recompiles: 1
# fix: xla_cpu_enable_fast_math
"""The same script, launched a second time with another XLA_FLAGS: the whole cache is cold."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..48 by 8
BATCH = 8  # size: 6..20 by 2


@jax.jit
def train_step(params, x, y):
    def loss_of(p):
        return jnp.mean((jax.nn.relu(x @ p["in"]) @ p["out"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    rng = np.random.default_rng(25)
    params = {
        "in": rng.normal(size=(7, WIDTH)).astype(np.float32) * 0.3,
        "out": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for step in range(6):
        x = rng.normal(size=(BATCH, 7)).astype(np.float32)
        params, loss = train_step(params, x, x[:, 3:4])  # trigger # origin
    print("loss", float(loss))


if __name__ == "__main__":
    main()
