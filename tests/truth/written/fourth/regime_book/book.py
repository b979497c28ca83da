from __future__ import annotations

import collections
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

Bar = collections.namedtuple("Bar", "r feats vol")

ASSETS, FEATS = 40, 5


def market(days: int, seed: int = 13):
    rng = np.random.default_rng(seed)
    true = rng.standard_normal(FEATS) * 0.01
    for d in range(days):
        vol = 0.01 if d < 18 else 0.03
        f = rng.standard_normal((ASSETS, FEATS)).astype(np.float32)
        r = (f @ true + vol * rng.standard_normal(ASSETS)).astype(np.float32)
        yield Bar(r, f, vol)


class Desk:
    """Online factor model; trades the best names each day."""

    lr_by_regime = {"calm": 0.05, "storm": 0.01}

    def __init__(self):
        self.params = {"w": jnp.zeros(FEATS), "b": jnp.zeros(())}
        self.regime = None
        self.tx: optax.GradientTransformation | None = None
        self.opt_state = None
        self.pnl: list[float] = []
        self.switch("calm")

    def switch(self, regime: str) -> None:
        if regime == self.regime:
            return
        self.regime = regime
        self.tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(self.lr_by_regime[regime]))
        if self.opt_state is None:
            self.opt_state = self.tx.init(self.params)

    def breadth(self, bar: Bar) -> int:
        """how many names clear the liquidity filter today"""
        liquid = np.abs(bar.feats[:, 0]) > (0.2 if bar.vol < 0.02 else 0.6)
        return max(3, int(liquid.sum()) // 5) if len(self.pnl) > 8 else 6

    def on_bar(self, bar: Bar) -> None:
        self.switch("storm" if bar.vol > 0.02 else "calm")
        gain = trade(self.params, bar.feats, bar.r, self.breadth(bar))
        self.params, self.opt_state, _ = refit(self.tx, self.params, self.opt_state, bar.feats, bar.r)
        self.pnl.append(float(gain))


def alpha(p, f):
    return f @ p["w"] + p["b"]


@partial(jax.jit, static_argnums=0)
def refit(tx, p, s, f, r):
    loss, g = jax.value_and_grad(lambda q: jnp.mean((alpha(q, f) - r) ** 2))(p)
    up, s = tx.update(g, s, p)
    return optax.apply_updates(p, up), s, loss


@partial(jax.jit, static_argnames=("top",))
def trade(p, f, r, top):
    score, idx = jax.lax.top_k(alpha(p, f), top)
    w = jax.nn.softmax(score * 50)
    return jnp.sum(w * r[idx])


if __name__ == "__main__":
    desk = Desk()
    for bar in market(36):
        desk.on_bar(bar)
    print(f"pnl {sum(desk.pnl):+.4f} over {len(desk.pnl)} days, regime {desk.regime}")
