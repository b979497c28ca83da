# trap: dtype-change
# function: decode
# recompiles: 1
# fix: `cache`
"""The cache of a decoder is float32 at first and comes back as bfloat16."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8..32 by 8
HISTORY = 6  # size: 4..12 by 2


@jax.jit
def decode(params, cache, token):
    scores = jax.nn.softmax(cache @ token)  # origin
    mixed = scores @ cache + token
    fresh = jnp.tanh(params @ mixed.astype(jnp.float32))
    cache = jnp.concatenate([cache[1:], fresh[None].astype(cache.dtype)])
    return cache.astype(jnp.bfloat16), fresh


def main():
    rng = np.random.default_rng(46)
    params = rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.3
    cache = np.zeros((HISTORY, WIDTH), np.float32)
    token = rng.normal(size=WIDTH).astype(np.float32)
    for _ in range(7):
        cache, token = decode(params, cache, token)  # trigger
    print("norm", float(np.linalg.norm(token)))


if __name__ == "__main__":
    main()
