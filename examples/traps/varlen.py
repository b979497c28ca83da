# trap: varlen
# function: packed_attention
# recompiles: 3
# fix: pad
"""Sequences are packed end to end without padding: every batch has its own total length."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 16  # size: 8 16 24
SHORTEST = 4  # size: 3 4 6


@jax.jit
def packed_attention(params, packed, offsets):
    queries = packed @ params["q"]  # origin
    keys = packed @ params["k"]
    place = jnp.arange(packed.shape[0])
    segment = jnp.searchsorted(offsets, place, side="right")
    scores = queries @ keys.T / 4.0
    scores = jnp.where(segment[:, None] == segment[None, :], scores, -1e9)
    return jax.nn.softmax(scores) @ packed


def main():
    rng = np.random.default_rng(20)
    params = {
        "q": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.2,
        "k": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.2,
    }
    for lengths in [[4, 7, 5], [4, 7, 5], [6, 3], [5, 5, 5, 5], [6, 3], [9, 2, 4]]:
        lengths = np.array(lengths) + SHORTEST
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        packed = rng.normal(size=(offsets[-1], WIDTH)).astype(np.float32)
        mixed = packed_attention(params, packed, offsets)  # trigger
    print("mean", float(np.mean(mixed)))


if __name__ == "__main__":
    main()
