"""Row X: a static number counts. After its first change nothing shows yet that it does; the pause lets live look."""
import functools
import time

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnums=1)
def decay(field, turn):
    return field * 0.9 + turn


field = jnp.ones(6)
for call in range(8):
    turn = max(0, call - 3)
    field = decay(field, turn)
    field.block_until_ready()
    if turn == 1:
        time.sleep(8)
