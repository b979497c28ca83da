import contextlib
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm

market = {"vol": 0.2, "spot": 100.0}


@contextlib.contextmanager
def shocked(**moves):
    before = dict(market)
    market.update(moves)
    try:
        yield market
    finally:
        market.clear()
        market.update(before)


@lru_cache(64)
def pricer(vol):
    @jax.jit
    def price(spot, strikes, tau):
        d1 = (jnp.log(spot / strikes) + 0.5 * vol ** 2 * tau) / (vol * jnp.sqrt(tau))
        return spot * norm.cdf(d1) - strikes * norm.cdf(d1 - vol * jnp.sqrt(tau))
    return price


@jax.jit
def ladder(values):
    return jnp.sort(values)[::-1].cumsum()


def quotes(days):
    r = np.random.default_rng(4)
    for day in range(days):
        yield day, 100 + r.normal(), 0.2


def main():
    strikes = jnp.linspace(80, 120, 9)
    pnl = 0.0
    ladder(jnp.zeros(9))
    for day, spot, vol in quotes(20):
        with shocked(vol=vol, spot=spot) as m:
            fn = pricer(round(m["vol"], 4))
            values = fn(jnp.float32(m["spot"]), strikes, jnp.float32(0.5))
        if day >= 15:
            risk = ladder(values)
    print(risk.shape)


main()
