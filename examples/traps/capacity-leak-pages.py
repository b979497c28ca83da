# trap: capacity-leak
# function: layout
# recompiles: 3
# fix: config
"""A paged cache reserves as many pages as the real sequences of a batch need."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

LENGTH = 60  # size: 48 60 72
PAGE = 4  # size: 4 6
WIDTH = 8  # size: 8 12


@functools.partial(jax.jit, static_argnums=2)
def layout(keys, slot, pages):
    page = jnp.clip(slot // PAGE, 0, pages - 1)  # origin
    one_hot = (page[:, None] == jnp.arange(pages)[None, :]).astype(jnp.float32)  # origin
    return jnp.einsum("sp,sd->pd", one_hot, keys)


def main():
    rng = np.random.default_rng(56)
    slot = np.arange(LENGTH, dtype=np.int32)
    for real in [40, 40, 28, 40, 16, 28, 36]:
        keys = rng.normal(size=(LENGTH, WIDTH)).astype(np.float32)
        pages = -(-real // PAGE)
        table = layout(keys, slot, pages)  # trigger
    print("pages", table.shape[0])


if __name__ == "__main__":
    main()
