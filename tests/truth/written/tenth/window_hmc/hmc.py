import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp


class HMCState(NamedTuple):
    position: jax.Array
    logdensity: jax.Array
    grad: jax.Array


class HMCInfo(NamedTuple):
    acceptance: jax.Array
    energy: jax.Array


def init(position, logdensity_fn):
    return HMCState(position, *jax.value_and_grad(logdensity_fn)(position))


def momentum(key, inv_mass):
    z = jax.random.normal(key, (inv_mass.shape[0],))
    if inv_mass.ndim == 1:
        return z / jnp.sqrt(inv_mass)
    return jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(inv_mass), z, lower=True, trans=1)


def velocity(p, inv_mass):
    return inv_mass * p if inv_mass.ndim == 1 else inv_mass @ p


def build_kernel(logdensity_fn):
    value_and_grad = jax.value_and_grad(logdensity_fn)

    @functools.partial(jax.jit, static_argnames=("num_integration_steps",))
    def hmc_step(key, state, step_size, inverse_mass, num_integration_steps):
        k1, k2 = jax.random.split(key)
        p0 = momentum(k1, inverse_mass)
        q, p, (lp, g) = state.position, p0, (state.logdensity, state.grad)
        for _ in range(num_integration_steps):
            p = p + 0.5 * step_size * g
            q = q + step_size * velocity(p, inverse_mass)
            lp, g = value_and_grad(q)
            p = p + 0.5 * step_size * g
        e0 = -state.logdensity + 0.5 * p0 @ velocity(p0, inverse_mass)
        e1 = -lp + 0.5 * p @ velocity(p, inverse_mass)
        acc = jnp.exp(jnp.minimum(0.0, e0 - e1))
        take = jax.random.uniform(k2) < acc
        new = jax.tree.map(lambda a, b: jnp.where(take, a, b), HMCState(q, lp, g), state)
        return new, HMCInfo(acc, e1)

    return hmc_step
