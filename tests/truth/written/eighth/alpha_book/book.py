import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass(frozen=True)
class Limits:
    gross: float = 1.5
    single_name: float = 0.25
    long_only: bool = False


tx = optax.sgd(0.05, momentum=0.9)


@jax.jit
def fit_step(beta, opt_state, feats, fwd):
    def ic_loss(b):
        score = feats @ b
        score = score - score.mean(-1, keepdims=True)
        return jnp.mean((score - fwd) ** 2)

    loss, g = jax.value_and_grad(ic_loss)(beta)
    upd, opt_state = tx.update(g, opt_state)
    return optax.apply_updates(beta, upd), opt_state, loss


@partial(jax.jit, static_argnames=("limits",))
def rebalance(beta, today, limits):
    raw = today @ beta
    raw = raw - raw.mean()
    if limits.long_only:
        raw = jax.nn.relu(raw)
    w = raw / (jnp.abs(raw).sum() + 1e-9) * limits.gross
    return jnp.clip(w, -limits.single_name, limits.single_name)


class Book:
    def __init__(self, market, names, n_feats, target_vol):
        self.market = market
        self.names = list(names)
        self.limits = Limits()
        self.target_vol = target_vol
        self.beta = jnp.zeros(n_feats)
        self.opt_state = tx.init(self.beta)
        self.pnl = []
        self.weights = {}
        self.loss = float("nan")

    def on_listing(self, ev):
        self.names.append(ev.payload)

    def on_delisting(self, ev):
        self.names.remove(ev.payload)
        self.weights.pop(ev.payload, None)

    def on_bar(self, ev):
        ret = self.market.returns[ev.day]
        self.pnl.append(sum(w * ret[n] for n, w in self.weights.items()))
        feats, fwd = self.market.window(ev.day, self.names)
        self.beta, self.opt_state, loss = fit_step(self.beta, self.opt_state, feats, fwd)
        w = np.asarray(rebalance(self.beta, feats[-1], self.limits))
        self.weights = {n: float(x) for n, x in zip(self.names, w)}
        self.loss = loss

    def on_month_end(self, ev):
        realised = max(float(np.std(self.pnl[-5:])), 1e-4)
        leverage = float(np.clip(self.target_vol / realised, 0.5, 3.0))
        self.limits = dataclasses.replace(self.limits, gross=round(leverage, 3))
        print(f"day {ev.day:3d} names {len(self.names)} pnl {sum(self.pnl):+.4f} loss {float(self.loss):.5f}")
