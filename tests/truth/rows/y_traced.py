"""Y: a number that jit traces differs in each call; a static argument beside it decides, and once a value that the
function closes over."""
import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="taps")
def blur(signal, gain, *, taps):
    return gain * sum(jnp.roll(signal, k) for k in range(taps)) / taps


@functools.lru_cache
def limiter(ceiling):
    @jax.jit
    def limit(signal, gain):
        return jnp.minimum(signal * gain, ceiling)

    return limit


class Desk:
    def __init__(self):
        self.gain, self.played = 1.0, 0

    def taps(self):
        return 3 + self.played // 6

    def ceiling(self):
        return 0.9 if self.played < 8 else 0.7

    def play(self, signal):
        soft = blur(signal, np.float32(self.gain), taps=self.taps())
        loud = limiter(self.ceiling())(soft, self.gain)
        self.played += 1
        self.gain *= 0.99
        return loud


desk = Desk()
print(sum(float(desk.play(jnp.linspace(0.0, 1.0, 16)).sum()) for _ in range(12)))
