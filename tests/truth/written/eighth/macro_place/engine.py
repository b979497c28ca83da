from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import optax

TX = optax.adam(8e-3)


def smooth_wl(pos, pins, sharp):
    p = pos[pins] / sharp
    up = jax.nn.logsumexp(p, axis=1)
    down = jax.nn.logsumexp(-p, axis=1)
    return sharp * jnp.sum(up + down)


def density(pos, area, bins):
    centre = (jnp.arange(bins) + 0.5) / bins
    kx = jax.nn.relu(1 - jnp.abs(pos[:, :1] - centre) * bins)
    ky = jax.nn.relu(1 - jnp.abs(pos[:, 1:] - centre) * bins)
    return jnp.einsum("ci,cj,c->ij", kx, ky, area)


@lru_cache(maxsize=None)
def build_mover(bins, sharp):
    def objective(pos, area, pins, push):
        d = density(pos, area, bins)
        return smooth_wl(pos, pins, sharp) + push * jnp.sum((d - d.mean()) ** 2)

    @jax.jit
    def move(pos, opt_state, area, pins, push):
        cost, g = jax.value_and_grad(objective)(pos, area, pins, push)
        upd, opt_state = TX.update(g, opt_state)
        return jnp.clip(optax.apply_updates(pos, upd), 0.0, 1.0), opt_state, cost

    return move


@partial(jax.jit, static_argnames=("bins", "exact"))
def overflow(pos, area, bins, exact=False):
    if exact:
        cell = jnp.clip((pos * bins).astype(jnp.int32), 0, bins - 1)
        d = jnp.zeros((bins, bins)).at[cell[:, 0], cell[:, 1]].add(area)
    else:
        d = density(pos, area, bins)
    return jnp.sum(jax.nn.relu(d - 2.0 * area.sum() / bins ** 2)) / area.sum()
