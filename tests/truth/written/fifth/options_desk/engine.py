import functools

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm

TENORS = jnp.array([0.08, 0.25, 0.5, 1.0, 2.0])


def _black(spot, strike, vol, rate, tau):
    srt = vol * jnp.sqrt(tau)
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * vol**2) * tau) / srt
    return spot * norm.cdf(d1) - strike * jnp.exp(-rate * tau) * norm.cdf(d1 - srt)


@jax.jit
def price_surface(spot, strikes, vol_pct, rate):
    vol = vol_pct / 100.0
    k = jnp.asarray(strikes)[..., None]
    return _black(spot, k, vol, rate, TENORS)


@functools.partial(jax.jit, static_argnames=("steps",))
def american_put(spot, vol_pct, rate, steps=64):
    """Cox-Ross-Rubinstein at the money, one tree per tenor."""

    def tree(vol, tau):
        dt = tau / steps
        u = jnp.exp(vol * jnp.sqrt(dt))
        p = (jnp.exp(rate * dt) - 1 / u) / (u - 1 / u)
        j = jnp.arange(steps + 1)
        payoff = jnp.maximum(spot - spot * u ** (2.0 * j - steps), 0.0)

        def back(i, v):
            cont = jnp.exp(-rate * dt) * (p * jnp.roll(v, -1) + (1 - p) * v)
            ex = jnp.maximum(spot - spot * u ** (2.0 * j - (steps - 1 - i)), 0.0)
            return jnp.maximum(cont, ex)

        return jax.lax.fori_loop(0, steps, back, payoff)[0]

    return jax.vmap(tree)(vol_pct / 100.0, TENORS)
