import functools

import jax
import jax.numpy as jnp

from orbits import positions


@jax.jit
def coarse(el, asset, t, radius):
    """Flags objects that come inside the radius of the asset within the next window."""
    def look(carry, dt):
        d = jnp.linalg.norm(positions(el, t + dt) - positions(asset, t + dt), axis=-1)
        return jnp.minimum(carry, d), None

    start = jnp.full(el["a"].shape, 1e9)
    nearest, _ = jax.lax.scan(look, start, jnp.arange(0.0, 600.0, 60.0))
    return nearest < radius, nearest


@jax.jit
def gather_elements(el, index):
    return jax.tree.map(lambda a: a[index], el)


@functools.partial(jax.jit, static_argnums=1)
def suspects(flags, room):
    return jnp.nonzero(flags, size=room, fill_value=0)[0], jnp.minimum(flags.sum(), room)


@jax.jit
def fine(el, asset, t, n):
    def look(carry, dt):
        d = jnp.linalg.norm(positions(el, t + dt) - positions(asset, t + dt), axis=-1)
        better = d < carry[0]
        return (jnp.where(better, d, carry[0]), jnp.where(better, dt, carry[1])), None

    zero = jnp.zeros(el["a"].shape)
    (miss, when), _ = jax.lax.scan(look, (zero + 1e9, zero), jnp.arange(0.0, 600.0, 10.0))
    i = jnp.argmin(jnp.where(jnp.arange(miss.size) < n, miss, 1e9))
    return miss[i], when[i]


@functools.partial(jax.jit, static_argnums=1)
def worst(nearest, n):
    value, ix = jax.lax.top_k(-nearest, n)
    return -value, ix
