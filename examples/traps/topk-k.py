# trap: topk-k
# function: prune
# recompiles: 3
# fix: static k, mask
"""The number of kept tokens follows from each batch: top-k with a k of its own every time."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

TOKENS = 48  # size: 40..96 by 8
WIDTH = 8  # size: 8 12 16
SHARE = 4  # size: 3 4 5


@functools.partial(jax.jit, static_argnums=2)
def prune(params, tokens, k):
    scores = jnp.tanh(tokens @ params["score"])[:, 0]
    best, rows = jax.lax.top_k(scores, k)  # origin
    kept = tokens[rows] * best[:, None]
    return kept @ params["out"]


def main():
    rng = np.random.default_rng(18)
    params = {
        "score": rng.normal(size=(WIDTH, 1)).astype(np.float32),
        "out": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32),
    }
    for active in [36, 36, 24, 36, 30, 24, 18]:
        tokens = rng.normal(size=(TOKENS, WIDTH)).astype(np.float32)
        result = prune(params, tokens, active // SHARE + 2)  # trigger
    print("kept", result.shape[0])


if __name__ == "__main__":
    main()
