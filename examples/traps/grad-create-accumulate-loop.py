# trap: grad-create-accumulate
# function: backward
# recompiles: 1
# fix: zeros
"""Two losses contribute to one gradient; the first call of each step has nothing to add to."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


@jax.jit
def backward(weights, x, target, so_far=None):
    grads = jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"] - target) ** 2))(weights)
    if so_far is not None:
        grads = {name: grads[name] + so_far[name] for name in grads}  # origin
    return grads


def main():
    rng = np.random.default_rng(58)
    weights = {
        "a": rng.normal(size=(5, WIDTH)).astype(np.float32) * 0.3,
        "b": rng.normal(size=(WIDTH, 1)).astype(np.float32) * 0.3,
    }
    for _ in range(6):
        total = None
        for target in (np.float32(0.0), np.float32(1.0)):
            x = rng.normal(size=(BATCH, 5)).astype(np.float32)
            total = backward(weights, x, target, total)  # trigger
        weights = {name: weights[name] - 0.1 * np.asarray(total[name]) for name in weights}
    print("norm", float(np.linalg.norm(weights["a"])))


if __name__ == "__main__":
    main()
