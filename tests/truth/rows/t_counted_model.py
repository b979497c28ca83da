"""Row T: a layer deep in a flax.nnx model counts its calls in a Python number, which no program uses."""
import jax
import jax.numpy as jnp
from flax import nnx


class Guard:
    """Counts how often something was looked at."""

    def look(self, value):
        self.looked += 1
        return jnp.clip(value, -5.0, 5.0)


class Layer(Guard, nnx.Module):
    def __init__(self, width, rngs):
        self.lines = nnx.Linear(width, width, rngs=rngs)
        self.looked = 0

    def __call__(self, value):
        return self.look(jnp.tanh(self.lines(value)))


class Tower(nnx.Module):
    def __init__(self, width, rngs):
        self.parts = nnx.Dict(low=Layer(width, rngs), high=nnx.Linear(width, 1, rngs=rngs))

    def __call__(self, value):
        return self.parts["high"](self.parts["low"](value))


@nnx.jit
def rise(tower, value):
    return jnp.mean(tower(value))


tower = Tower(4, nnx.Rngs(0))
for turn in range(6):
    mean = rise(tower, jnp.ones((3, 4)))
print(float(mean))
