from typing import Callable

import jax.numpy as jnp
from flax import nnx


class Noise(nnx.Module):
    """Multiplicative Gaussian noise on the band powers; strength is set by the trainer."""

    def __init__(self, strength, rngs):
        self.strength = nnx.Variable(jnp.float32(strength))
        self.rngs = rngs.fork()

    def __call__(self, x):
        return x * (1.0 + self.strength[...] * self.rngs.normal(x.shape))


class Stager(nnx.Module):
    def __init__(self, bands, stages, width=24, act: Callable = nnx.silu, *, rngs):
        self.noise = Noise(0.0, rngs)
        self.inp = nnx.Linear(bands, width, rngs=rngs)
        self.bn = nnx.BatchNorm(width, rngs=rngs)
        self.hidden = nnx.Linear(width, width, rngs=rngs)
        self.drop = nnx.Dropout(0.1, rngs=rngs)
        self.out = nnx.Linear(width, stages, rngs=rngs)
        self.act = act

    def __call__(self, x):
        h = self.act(self.bn(self.inp(self.noise(x))))
        return self.out(self.drop(self.act(self.hidden(h))))
