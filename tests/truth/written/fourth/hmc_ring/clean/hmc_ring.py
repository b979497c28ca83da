"""HMC on a noisy ring posterior, with step-size adaptation during burn-in."""
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Chain(NamedTuple):
    q: jax.Array
    logp: jax.Array
    key: jax.Array
    acc: jax.Array


def logp(q):
    r = jnp.sqrt(jnp.sum(q**2, -1) + 1e-6)
    return -0.5 * ((r - 2.0) / 0.2) ** 2 + 0.1 * q[..., 0]


def leap(q, p, eps, n):
    g = jax.grad(lambda z: logp(z).sum())
    p = p + 0.5 * eps * g(q)
    def body(_, qp):
        q, p = qp
        q = q + eps * p
        return q, p + eps * g(q)
    q, p = jax.lax.fori_loop(0, n - 1, body, (q, p))
    q = q + eps * p
    return q, p + 0.5 * eps * g(q)


@jax.jit
def transition(c: Chain, eps, n):
    key, k1, k2 = jax.random.split(c.key, 3)
    p0 = jax.random.normal(k1, c.q.shape)
    q1, p1 = leap(c.q, p0, eps, n)
    lp1 = logp(q1)
    log_a = lp1 - c.logp + 0.5 * (jnp.sum(p0**2, -1) - jnp.sum(p1**2, -1))
    ok = jnp.log(jax.random.uniform(k2, log_a.shape)) < log_a
    q = jnp.where(ok[:, None], q1, c.q)
    return Chain(q, jnp.where(ok, lp1, c.logp), key, jnp.mean(jnp.minimum(1.0, jnp.exp(log_a))))


class DualAveraging:
    """Nesterov's scheme, numbers as in the Stan manual."""

    def __init__(self, eps, target=0.8):
        self.mu, self.target = np.log(10 * eps), target
        self.h = self.log_bar = 0.0
        self.t = 0
        self.eps = eps

    def __call__(self, acc):
        self.t += 1
        w = 1 / (self.t + 10)
        self.h = (1 - w) * self.h + w * (self.target - acc)
        log_eps = self.mu - np.sqrt(self.t) / 0.05 * self.h * 0.1
        eta = self.t ** -0.75
        self.log_bar = eta * log_eps + (1 - eta) * self.log_bar
        self.eps = float(np.clip(np.exp(log_eps), 1e-3, 0.5))
        return self.eps

    def frozen(self):
        return float(np.clip(np.exp(np.float32(self.log_bar)), 1e-3, 0.5))


def trajectory_lengths(burn, total, rng):
    base = 6
    yield from (base for _ in range(burn + 4))
    yield from (int(base + rng.integers(-2, 3)) for _ in range(total - burn - 4))


def run(chains=32, burn=14, total=40, seed=0):
    rng = np.random.default_rng(seed)
    q = jax.random.normal(jax.random.key(seed), (chains, 2))
    c = Chain(q, logp(q), jax.random.key(seed + 1), jnp.float32(0))
    ada = DualAveraging(0.05)
    kept = []
    for it, n in enumerate(trajectory_lengths(burn, total, rng)):
        eps = ada.eps if it < burn else ada.frozen()
        c = transition(c, eps, n)
        if it < burn:
            ada(float(c.acc))
        else:
            kept.append(np.asarray(c.q))
    return np.stack(kept)


if __name__ == "__main__":
    s = run()
    print("mean radius %.3f" % np.sqrt((s**2).sum(-1)).mean())
