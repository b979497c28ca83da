# trap: dim-readback
# recompiles: 1+
# fix: mask
"""The number of active rows is taken from a nonzero's size and passed on as a static size."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

ROWS = 24  # size: 20..40 by 4
WIDTH = 6  # size: 4..12 by 2


@jax.jit
def activity(x):
    return jnp.sum(jnp.abs(x), axis=1)


@functools.partial(jax.jit, static_argnums=1)
def condense(x, rows):
    order = jnp.argsort(-jnp.sum(jnp.abs(x), axis=1))
    return x[order[:rows]].mean(0)  # origin


def main():
    rng = np.random.default_rng(54)
    for real in [8, 8, 11, 8, 5, 11]:
        x = np.zeros((ROWS, WIDTH), np.float32)
        x[:real] = rng.normal(size=(real, WIDTH))
        active = activity(x)
        rows = int((active > 0).sum())
        result = condense(x, rows)  # trigger
    print("mean", np.asarray(result)[:2])


if __name__ == "__main__":
    main()
