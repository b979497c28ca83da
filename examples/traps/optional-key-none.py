# trap: optional-key
# function: attend
# recompiles: 1
# fix: `mask`
"""Attention takes a mask or None: only padded batches have one."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 8  # size: 8 12 16
LENGTH = 10  # size: 8..16 by 2


@jax.jit
def attend(params, x, mask=None):
    scores = (x @ params["q"]) @ (x @ params["k"]).T / 3.0
    if mask is not None:
        scores = jnp.where(mask[None, :], scores, -1e9)  # origin
    return jax.nn.softmax(scores) @ x


def main():
    rng = np.random.default_rng(51)
    params = {
        "q": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.3,
        "k": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.3,
    }
    for turn in range(10):
        x = rng.normal(size=(LENGTH, WIDTH)).astype(np.float32)
        mask = np.arange(LENGTH) < LENGTH - 2 if turn in (3, 8) else None
        out = attend(params, x, mask)  # trigger
    print("mean", float(np.mean(np.asarray(out))))


if __name__ == "__main__":
    main()
