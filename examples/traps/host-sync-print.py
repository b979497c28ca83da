# trap: host-sync
# recompiles: 1+
# fix: step
"""From the tenth step on, the spread of the weights is printed in the loop."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@jax.jit
def train_step(weights, x):
    grad = jax.grad(lambda w: jnp.mean((jax.nn.relu(x @ w) - x[:, :1]) ** 2))(weights)
    return weights - 0.05 * grad


def main():
    rng = np.random.default_rng(59)
    weights = rng.normal(size=(WIDTH, 1)).astype(np.float32)
    for step in range(14):
        x = rng.normal(size=(BATCH, WIDTH)).astype(np.float32)
        weights = train_step(weights, x)
        if step >= 10:
            print("step", step, "spread", float(jnp.std(weights)))  # origin # trigger


if __name__ == "__main__":
    main()
