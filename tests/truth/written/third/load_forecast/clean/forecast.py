#!/usr/bin/env python
"""Hour-ahead electricity load: GRU encoder/decoder with scheduled sampling (flax nnx).

Notebook export -- cells 3..11.
"""
import math
from types import SimpleNamespace as NS

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

hp = NS(context=24, horizon=6, hidden=12, batch=16, epochs=6, steps=6, lr=1e-2)

# %% data
def load_curve(n=900, seed=0):
    g = np.random.default_rng(seed)
    t = np.arange(n)
    y = 1 + 0.5 * np.sin(2 * np.pi * t / 24) + 0.2 * np.sin(2 * np.pi * t / 168) + 0.05 * g.normal(size=n)
    return y.astype(np.float32)

def windows(y, g, k):
    i = g.integers(0, len(y) - hp.context - hp.horizon, k)
    w = np.stack([y[j:j + hp.context + hp.horizon] for j in i])
    return w[:, :hp.context, None], w[:, hp.context:, None]

# %% model
class Seq2Seq(nnx.Module):
    def __init__(self, hidden, rngs):
        self.cell = nnx.GRUCell(1, hidden, rngs=rngs)
        self.out = nnx.Linear(hidden, 1, rngs=rngs)
        self.hidden = hidden
        self.teacher = nnx.Variable(jnp.ones(()))

    def __call__(self, ctx, fut):
        h = jnp.zeros((ctx.shape[0], self.hidden))
        gd, st = nnx.split(self.cell)

        def enc(h, x):
            h, _ = nnx.merge(gd, st)(h, x)
            return h, None

        h, _ = jax.lax.scan(enc, h, ctx.swapaxes(0, 1))
        teacher = self.teacher[...]
        og, os_ = nnx.split(self.out)

        def dec(c, truth):
            h, x = c
            h, o = nnx.merge(gd, st)(h, x)
            p = nnx.merge(og, os_)(o)
            return (h, teacher * truth + (1 - teacher) * p), p

        _, p = jax.lax.scan(dec, (h, ctx[:, -1]), fut.swapaxes(0, 1))
        return p.swapaxes(0, 1)

# %% fit
@nnx.jit
def fit(model, opt, ctx, fut):
    def mse(m):
        return jnp.square(m(ctx, fut) - fut).mean()
    l, g = nnx.value_and_grad(mse)(model)
    opt.update(model, g)
    return l

@nnx.jit
def mape(pred_model, ctx, fut):
    return (jnp.abs(pred_model(ctx, fut) - fut) / fut).mean()

class Schedule:
    """Inverse sigmoid decay of the teacher-forcing weight."""
    def __init__(self, k=2.0):
        self.k = k

    def __getitem__(self, epoch):
        return round(self.k / (self.k + math.exp(epoch / self.k)), 3)

def main():
    y = load_curve()
    g = np.random.default_rng(1)
    net = Seq2Seq(hp.hidden, nnx.Rngs(0))
    opt = nnx.Optimizer(net, optax.adam(hp.lr), wrt=nnx.Param)
    forcing = Schedule()
    val = windows(y[-300:], np.random.default_rng(2), 32)
    log = []
    for epoch in range(hp.epochs):
        net.teacher[...] = np.float32(forcing[min(epoch, 3)])
        for _ in range(hp.steps):
            l = fit(net, opt, *windows(y[:-300], g, hp.batch))
            if not log or _ == hp.steps - 1:
                log.append((float(l), float(mape(net, *val))))
    print("mse %.4f  mape %.3f -> %.3f" % (log[-1][0], log[0][1], log[-1][1]))

if __name__ == "__main__":
    main()
