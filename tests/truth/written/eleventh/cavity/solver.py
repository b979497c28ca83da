from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Fluid:
    n: int = 32
    nu: float = 0.01
    lid: float = 1.0
    dt: float = 0.01

    @property
    def h(self):
        return 1.0 / (self.n - 1)


def lap(f, h):
    return (
        jnp.roll(f, 1, 0) + jnp.roll(f, -1, 0) + jnp.roll(f, 1, 1) + jnp.roll(f, -1, 1) - 4 * f
    ) / h**2


def ddx(f, h):
    return (jnp.roll(f, -1, 1) - jnp.roll(f, 1, 1)) / (2 * h)


def ddy(f, h):
    return (jnp.roll(f, -1, 0) - jnp.roll(f, 1, 0)) / (2 * h)


def walls(u, v, lid):
    u = u.at[0].set(0.0).at[:, 0].set(0.0).at[:, -1].set(0.0).at[-1].set(lid)
    v = v.at[0].set(0.0).at[-1].set(0.0).at[:, 0].set(0.0).at[:, -1].set(0.0)
    return u, v


@partial(jax.jit, static_argnums=0)
def advect(fluid, u, v):
    h = fluid.h
    un = u + fluid.dt * (fluid.nu * lap(u, h) - u * ddx(u, h) - v * ddy(u, h))
    vn = v + fluid.dt * (fluid.nu * lap(v, h) - u * ddx(v, h) - v * ddy(v, h))
    return walls(un, vn, fluid.lid)


@partial(jax.jit, static_argnames=("h", "lid", "sweeps"))
def project(u, v, p, *, h, lid, sweeps):
    div = ddx(u, h) + ddy(v, h)
    for _ in range(sweeps):
        p = 0.25 * (
            jnp.roll(p, 1, 0) + jnp.roll(p, -1, 0) + jnp.roll(p, 1, 1) + jnp.roll(p, -1, 1)
            - h**2 * div
        )
    u, v = walls(u - ddx(p, h), v - ddy(p, h), lid)
    rest = jnp.abs(ddx(u, h) + ddy(v, h))[2:-2, 2:-2].mean()
    return u, v, p, rest


class Controller:
    def __init__(self, fluid, sweeps=6, want=0.012, top=14):
        self.fluid = fluid
        self.sweeps, self.want, self.top = sweeps, want, top

    def after_step(self, rest):
        if float(rest) > self.want and self.sweeps < self.top:
            self.sweeps += 4

    def courant(self, umax, cfl=0.35):
        step = cfl * self.fluid.h / max(float(umax), 1e-3)
        self.fluid = replace(self.fluid, dt=round(min(step, 0.02), 4))
