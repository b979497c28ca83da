"""Prices a small book of equity options by Monte Carlo and backs out vols."""
import argparse
import functools as ft
import json

import jax
import jax.numpy as jnp
import numpy as np

BOOK = """
[{"id": "C-01", "type": "call",  "strike": 100.0, "days": 63, "qty": 10},
 {"id": "C-02", "type": "call",  "strike": 105.0, "days": 63, "qty": -4},
 {"id": "C-03", "type": "call",  "strike": 97.5,  "days": 63, "qty": 3},
 {"id": "P-01", "type": "put",   "strike": 95.0,  "days": 63, "qty": 7},
 {"id": "P-02", "type": "put",   "strike": 100,   "days": 63, "qty": 5},
 {"id": "P-03", "type": "put",   "strike": 92.5,  "days": 63, "qty": 2},
 {"id": "A-01", "type": "asian", "strike": 100.0, "days": 63, "qty": 12},
 {"id": "A-02", "type": "asian", "strike": 101.0, "days": 63, "qty": 1},
 {"id": "A-03", "type": "asian", "strike": 101.0, "days": 21, "qty": 6},
 {"id": "C-04", "type": "call",  "strike": 110.0, "days": 42, "qty": 8},
 {"id": "P-04", "type": "put",   "strike": 90.0,  "days": 35, "qty": 2}]
"""

QUOTES = [(95.0, 8.9), (97.5, 7.2), (100.0, 5.7), (102.5, 4.4), (105.0, 3.3), (107.5, 2.4), (110.0, 1.8), (112.5, 1.3)]

MAX_DAYS = 63

CODES = {"call": 0, "put": 1, "asian": 2}


def payoff(code, path, k, n):
    live = (jnp.arange(MAX_DAYS) < n)[:, None]
    last = path[n - 1]
    mean = jnp.where(live, path, 0.0).sum(0) / n
    return jax.lax.switch(code, [
        lambda: jnp.maximum(last - k, 0.0),
        lambda: jnp.maximum(k - last, 0.0),
        lambda: jnp.maximum(mean - k, 0.0)])


@ft.partial(jax.jit, static_argnums=(6,))
def price(key, spot, k, vol, code, n, paths):
    dt = 1.0 / 252
    z = jax.random.normal(key, (MAX_DAYS, paths))
    steps = (-0.5 * vol ** 2) * dt + vol * jnp.sqrt(dt) * z
    path = spot * jnp.exp(jnp.cumsum(steps, 0))
    return payoff(code, path, k, n).mean()


@jax.jit
def book_risk(values, qty):
    return jnp.dot(values, qty), jnp.abs(values * qty).max()


def black(spot, k, vol, t):
    d1 = (jnp.log(spot / k) + 0.5 * vol ** 2 * t) / (vol * jnp.sqrt(t))
    N = jax.scipy.stats.norm.cdf
    return spot * N(d1) - k * N(d1 - vol * jnp.sqrt(t))


@jax.jit
def newton(vol, spot, k, premium, expiry):
    gap = lambda v: black(spot, k, v, expiry) - premium
    f, df = jax.value_and_grad(gap)(vol)
    return vol - f / jnp.maximum(df, 1e-3)


class Smile:
    def __init__(self, spot, expiry):
        self.spot, self.expiry, self.points = spot, expiry, {}

    def calibrate(self, quotes, iters=6):
        for k, premium in quotes:
            vol = jnp.float32(0.25)
            for _ in range(iters):
                vol = newton(vol, self.spot, k, premium, self.expiry)
            self.points[k] = float(vol)
        return self

    def __call__(self, k):
        ks = sorted(self.points)
        return np.float32(np.interp(k, ks, [self.points[x] for x in ks]))


def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--paths", type=int, default=2000)
    ap.add_argument("--spot", type=float, default=100.0)
    a = ap.parse_args(argv)

    smile = Smile(a.spot, 0.25).calibrate(QUOTES)
    print("smile", {k: round(v, 4) for k, v in smile.points.items()})

    values, qty = [], []
    root = jax.random.PRNGKey(0)
    for i, row in enumerate(json.loads(BOOK)):
        v = price(jax.random.fold_in(root, i), a.spot, float(row["strike"]), smile(row["strike"]),
                  np.int32(CODES[row["type"]]), np.int32(row["days"]), a.paths)
        values.append(float(v))
        qty.append(row["qty"])
        print(f'{row["id"]} {values[-1]:8.4f}')
    total, largest = book_risk(np.array(values, np.float32), np.array(qty, np.float32))
    print(f"book {float(total):.3f} largest {float(largest):.3f}")


if __name__ == "__main__":
    main()
