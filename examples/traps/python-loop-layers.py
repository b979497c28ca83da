# trap: python-loop
# function: forward
# recompiles: 2
# fix: scan
"""Progressive growing: the same block is applied more often as training goes on."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..32 by 8
BATCH = 6  # size: 4..12 by 2


def block(weights, hidden):
    normed = hidden - hidden.mean(-1, keepdims=True)  # origin
    return hidden + jax.nn.gelu(normed @ weights["up"]) @ weights["down"]  # origin


def make_forward(depth):
    @jax.jit
    def forward(weights, hidden):
        for _ in range(depth):
            hidden = block(weights, hidden)  # origin
        return jnp.mean(hidden, axis=0)

    return forward


def main():
    rng = np.random.default_rng(48)
    weights = {
        "up": rng.normal(size=(WIDTH, 2 * WIDTH)).astype(np.float32) * 0.1,
        "down": rng.normal(size=(2 * WIDTH, WIDTH)).astype(np.float32) * 0.1,
    }
    for depth in (2, 4, 6):
        forward = make_forward(depth)
        for _ in range(4):
            hidden = rng.normal(size=(BATCH, WIDTH)).astype(np.float32)
            out = forward(weights, hidden)  # trigger
    print("out", np.asarray(out)[:2])


if __name__ == "__main__":
    main()
