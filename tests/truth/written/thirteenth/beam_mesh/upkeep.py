import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


def renorm(taps):
    return taps / jnp.maximum(1.0, jnp.linalg.norm(taps, axis=1, keepdims=True))


class Upkeep:
    def __init__(self, mesh, every):
        self.every = every
        self.norm = jax.jit(renorm, out_shardings=NamedSharding(mesh, P("dev")))
        self.done = 0

    def __call__(self, step, weights):
        if step % self.every != self.every - 1:
            return weights
        self.done += 1
        return {**weights, "taps": self.norm(weights["taps"])}
