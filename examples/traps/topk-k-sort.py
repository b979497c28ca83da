# trap: topk-k
# function: nucleus
# recompiles: 2
# fix: mask
"""Each request asks for its own number of candidates."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

VOCAB = 40  # size: 32..80 by 8
WIDTH = 8  # size: 8 12


@functools.partial(jax.jit, static_argnames=("candidates",))
def nucleus(params, hidden, candidates):
    logits = hidden @ params.T
    values, places = jax.lax.top_k(logits, candidates)  # origin
    return jnp.sum(jax.nn.softmax(values) * places)


def main():
    rng = np.random.default_rng(57)
    params = rng.normal(size=(VOCAB, WIDTH)).astype(np.float32)
    total = 0.0
    for candidates in (5, 5, 9, 5, 3, 9):
        hidden = rng.normal(size=(2, WIDTH)).astype(np.float32)
        total += float(nucleus(params, hidden, candidates=candidates))  # trigger
    print("total", total)


if __name__ == "__main__":
    main()
