import functools

import jax
import jax.numpy as jnp
import numpy as np


def upwind(c, u, h, dx):
    left = c - jnp.roll(c, 1, axis=1)
    right = jnp.roll(c, -1, axis=1) - c
    return c - h / dx * jnp.where(u > 0, u * left, u * right)


def diffuse(c, kappa, h, dx):
    lap = sum(jnp.roll(c, s, a) for a in (0, 1) for s in (1, -1)) - 4 * c
    return c + kappa * h / dx ** 2 * lap


@functools.partial(jax.jit, static_argnums=(4,))
def advance(c, u, kappa, dt, pieces, emission=None):
    h = dt / pieces
    for _ in range(pieces):
        c = diffuse(upwind(c, u, h, 1.0), kappa, h, 1.0)
        if emission is not None:
            c = c + h * emission
    return c


class Solver:
    def __init__(self, dt=1.0, dx=1.0, courant=0.8, kappa=0.05):
        self.dt, self.dx, self.courant, self.kappa = dt, dx, courant, kappa
        self.total = 0

    def pieces(self, speed):
        return max(1, int(np.ceil(self.dt * speed / (self.courant * self.dx))))

    def forward(self, world, wind):
        speed = float(np.abs(wind).max())
        n = self.pieces(speed)
        self.total += n
        world["c"] = advance(world["c"], wind, self.kappa, self.dt, n, world["emission"])
        return world
