import jax
import jax.numpy as jnp
from flax import nnx


class Scale(nnx.Module):
    """Divides by a running estimate of the size of its input."""

    def __init__(self, features, momentum=0.9):
        self.momentum = momentum
        self.mean_square = nnx.BatchStat(jnp.ones(features))
        self.updates = 0

    def __call__(self, x, learn):
        if learn:
            now = jnp.mean(x ** 2, axis=0)
            keep = self.momentum if self.updates else 0.0
            self.mean_square.value = keep * self.mean_square.value + (1 - keep) * now
            self.updates += 1
        return x / jnp.sqrt(self.mean_square.value + 1e-5)


class Regressor(nnx.Module):
    def __init__(self, inputs, hidden, rngs):
        self.scale = Scale(inputs)
        self.first = nnx.Linear(inputs, hidden, rngs=rngs)
        self.second = nnx.Linear(hidden, hidden, rngs=rngs)
        self.out = nnx.Linear(hidden, 1, rngs=rngs)

    def __call__(self, x, learn=False):
        x = self.scale(x, learn)
        x = jax.nn.relu(self.first(x))
        x = x + jax.nn.relu(self.second(x))
        return self.out(x)[..., 0]
