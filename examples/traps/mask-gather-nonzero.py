# trap: mask-gather
# recompiles: 1+
# fix: size=
"""Positive examples are picked with jnp.nonzero between two jitted functions."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 8  # size: 8 12 16
ROWS = 24  # size: 20..40 by 4


@jax.jit
def embed(params, rows):
    return jax.nn.relu(rows @ params)


@jax.jit
def spread(chosen):
    centre = chosen.mean(0)  # origin
    return jnp.sqrt(jnp.mean((chosen - centre) ** 2))


def main():
    rng = np.random.default_rng(53)
    params = rng.normal(size=(WIDTH, WIDTH)).astype(np.float32)
    for positives in [6, 6, 9, 6, 11, 9]:
        rows = rng.normal(size=(ROWS, WIDTH)).astype(np.float32)
        flags = jnp.asarray(np.arange(ROWS) < positives)
        hidden = embed(params, rows)
        chosen = hidden[jnp.nonzero(flags)[0]]  # origin # trigger
        value = spread(chosen)  # trigger
    print("spread", float(value))


if __name__ == "__main__":
    main()
