from typing import Callable

import equinox as eqx
import jax
import jax.numpy as jnp


class VectorField(eqx.Module):
    mlp: eqx.nn.MLP
    scale: jax.Array

    def __init__(self, key):
        self.mlp = eqx.nn.MLP(2, 2, 24, 2, activation=jnp.tanh, key=key)
        self.scale = jnp.ones(2)

    def __call__(self, t, y, friction):
        return self.scale * self.mlp(y) - friction * y


class Integrator(eqx.Module):
    field: VectorField
    method: Callable = eqx.field(static=True)

    def __call__(self, ts, y0, friction):
        flow = lambda t, y: self.field(t, y, friction)

        def body(y, pair):
            t0, t1 = pair
            y = self.method(flow, t0, t1 - t0, y)
            return y, y
        _, ys = jax.lax.scan(body, y0, (ts[:-1], ts[1:]))
        return jnp.concatenate([y0[None], ys])


def rk4(f, t, h, y):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
