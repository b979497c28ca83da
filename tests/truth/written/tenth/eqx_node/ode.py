import equinox as eqx
import jax
import jax.numpy as jnp


class VectorField(eqx.Module):
    layers: list
    out_scale: jax.Array

    def __init__(self, dim, width, *, key):
        k1, k2 = jax.random.split(key)
        self.layers = [eqx.nn.Linear(dim, width, key=k1), eqx.nn.Linear(width, dim, key=k2)]
        self.out_scale = jnp.ones(())

    def __call__(self, t, y):
        return self.out_scale * self.layers[1](jax.nn.softplus(self.layers[0](y)))


def heun(field, t0, y, dt):
    k1 = field(t0, y)
    k2 = field(t0 + dt, y + dt * k1)
    return y + 0.5 * dt * (k1 + k2)


class NeuralODE(eqx.Module):
    field: VectorField
    substeps: int = eqx.field(static=True, default=2)

    def __call__(self, ts, y0):
        def interval(y, t_pair):
            lo, hi = t_pair
            dt = (hi - lo) / self.substeps
            for s in range(self.substeps):
                y = heun(self.field, lo + s * dt, y, dt)
            return y, y

        _, ys = jax.lax.scan(interval, y0, (ts[:-1], ts[1:]))
        return jnp.concatenate([y0[None], ys])
