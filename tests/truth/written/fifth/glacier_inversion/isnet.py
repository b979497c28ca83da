"""Buzul (glacier) kalinlik agi -- flax nnx."""
import jax
import jax.numpy as jnp
from flax import nnx


class SaturationGuard:
    """Mixin: keeps an eye on pre-activations that run away."""
    limit = 30.0

    def guard(self, h):
        self.overflow_checks += 1
        return jnp.clip(h, -self.limit, self.limit)


class FlowBlock(nnx.Module, SaturationGuard):
    def __init__(self, width, rngs):
        self.mix = nnx.Linear(width, width, rngs=rngs)
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.overflow_checks = 0

    def __call__(self, x):
        return x + jnp.tanh(self.guard(self.mix(self.norm(x))))


class ThicknessNet(nnx.Module):
    """slope, speed, elevation, mass balance -> ice thickness."""

    def __init__(self, features, width, depth, *, rngs):
        self.enter = nnx.Linear(features, width, rngs=rngs)
        self.blocks = nnx.List([FlowBlock(width, rngs) for _ in range(depth)])
        self.leave = nnx.Linear(width, 1, rngs=rngs)
        self.depth = depth

    def __call__(self, x):
        h = self.enter(x)
        for block in self.blocks:
            h = block(h)
        return jax.nn.softplus(self.leave(h)[..., 0])
