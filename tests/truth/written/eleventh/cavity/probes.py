from functools import partial

import jax
import jax.numpy as jnp

WIDTH = 8


@partial(jax.jit, static_argnums=1)
def strip_stats(field, left):
    strip = field[:, left:left + WIDTH]
    return strip.mean(), strip.std(), jnp.abs(strip).max()


class Rake:
    def __init__(self, n, every, shift):
        self.n, self.every, self.shift = n, every, shift
        self.left = 0
        self.records = []

    def sample(self, step, field):
        if step % self.every:
            return
        self.records.append((step, self.left, *map(float, strip_stats(field, self.left))))
        self.left = (self.left + self.shift) % (self.n - WIDTH)
