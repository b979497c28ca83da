# trap: value-branch
# function: restart
# recompiles: 1
# fix: where, cond
"""Two jitted updates, and a Python `if` on the loss decides which one runs."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@jax.jit
def descend(weights, x):
    def loss_of(w):
        return jnp.mean((jnp.sin(x @ w) - x[:, :1]) ** 2)

    loss, grad = jax.value_and_grad(loss_of)(weights)
    return weights - 0.1 * grad, loss


@jax.jit
def restart(weights):
    centred = weights - jnp.mean(weights)  # origin
    return centred / (jnp.std(centred) + 1e-3)


def main():
    rng = np.random.default_rng(49)
    weights = rng.normal(size=(WIDTH, 1)).astype(np.float32)
    for step in range(12):
        x = rng.normal(size=(BATCH, WIDTH)).astype(np.float32)
        if step == 7:
            x = x * 50.0
        weights, loss = descend(weights, x)
        if float(loss) > 30.0:
            weights = restart(weights)  # trigger
    print("loss", float(loss))


if __name__ == "__main__":
    main()
