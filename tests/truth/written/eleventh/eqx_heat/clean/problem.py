import equinox as eqx
import jax
import jax.numpy as jnp


class Field(eqx.Module):
    layers: list

    def __init__(self, key, width=24):
        ks = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Linear(2, width, key=ks[0]),
            eqx.nn.Linear(width, width, key=ks[1]),
            eqx.nn.Linear(width, 1, key=ks[2]),
        ]

    def __call__(self, t, x):
        h = jnp.stack([t, x])
        for lin in self.layers[:-1]:
            h = jnp.tanh(lin(h))
        return self.layers[-1](h)[0]


class HeatProblem(eqx.Module):
    diffusivity: float
    edge_weight: jax.Array

    def residual(self, u, tx):
        t, x = tx
        u_t = jax.grad(u, argnums=0)(t, x)
        u_xx = jax.grad(jax.grad(u, argnums=1), argnums=1)(t, x)
        return u_t - self.diffusivity * u_xx

    def parts(self, u, interior, edge, edge_value):
        res = jax.vmap(lambda p: self.residual(u, p))(interior)
        gap = jax.vmap(lambda p: u(p[0], p[1]))(edge) - edge_value
        return jnp.mean(res**2), jnp.mean(gap**2)

    def objective(self, u, interior, edge, edge_value):
        a, b = self.parts(u, interior, edge, edge_value)
        return a + self.edge_weight * b, (a, b)
