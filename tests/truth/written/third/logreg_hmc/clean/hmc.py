"""
Tempered HMC for Bayesian logistic regression.

Homework 3, problem 2 (b).  Usage:  python hmc.py
"""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def make_data(n=120, d=5, seed=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    beta = rng.normal(size=d)
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-X @ beta))).astype(np.float32)
    return X, y, beta


def neg_log_post(q, X, y):
    logits = X @ q
    ll = y * jax.nn.log_sigmoid(logits) + (1 - y) * jax.nn.log_sigmoid(-logits)
    return -ll.sum() + 0.5 * (q @ q) / 4.0


grad_U = jax.grad(neg_log_post)


@jax.jit
def trajectory(q, p, eps, X, y):
    """12 leapfrog steps and the two Hamiltonians."""
    h0 = neg_log_post(q, X, y) + 0.5 * p @ p
    p = p - 0.5 * eps * grad_U(q, X, y)

    def leap(c, _):
        q, p = c
        q = q + eps * p
        return (q, p - eps * grad_U(q, X, y)), None

    (q, p), _ = jax.lax.scan(leap, (q, p), None, length=12)
    p = p + 0.5 * eps * grad_U(q, X, y)
    return q, h0, neg_log_post(q, X, y) + 0.5 * p @ p


@dataclass(frozen=True)
class Annealer:
    """Acceptance rule at a temperature that cools towards one."""

    t0: float = 4.0
    decay: float = 0.9
    draws: int = field(default=0, hash=False, compare=False)

    @property
    def temperature(self):
        return 1.0 + (self.t0 - 1.0) * self.decay ** self.draws

    @partial(jax.jit, static_argnums=0)
    def decide(self, temperature, key, q_old, q_new, h0, h1):
        log_a = jnp.minimum(0.0, (h0 - h1) / temperature)
        ok = jnp.log(jax.random.uniform(key)) < log_a
        return jnp.where(ok, q_new, q_old), jnp.exp(log_a)

    def cooled(self):
        return replace(self, draws=self.draws + 1)


class StepSize:
    """Robbins-Monro on log(eps), averaged at the end of the warm-up."""

    def __init__(self, eps=0.05, target=0.8):
        self.eps, self.target = eps, target
        self.trace = []

    def adapt(self, alpha, i):
        log_eps = np.log(self.eps) + (alpha - self.target) / (3.0 + i) ** 0.6
        self.trace.append(log_eps)
        self.eps = float(np.exp(log_eps))

    def freeze(self):
        self.eps = float(np.exp(np.mean(self.trace[len(self.trace) // 2:])))


def main(n_warm=15, n_keep=15):
    X, y, beta = make_data()
    X, y = jnp.asarray(X), jnp.asarray(y)
    rng = np.random.default_rng(1)
    keys = jax.random.split(jax.random.PRNGKey(4), n_warm + n_keep)
    rule, step = Annealer(), StepSize()
    q = jnp.zeros(X.shape[1])
    kept = []
    for i, key in enumerate(np.asarray(keys)):
        p = rng.normal(size=q.shape).astype(np.float32)
        q_new, h0, h1 = trajectory(q, p, step.eps, X, y)
        q, alpha = rule.decide(rule.temperature, key, q, q_new, h0, h1)
        rule = rule.cooled()
        if i < n_warm:
            step.adapt(float(alpha), i)
            if i == n_warm - 1:
                step.freeze()
        else:
            kept.append(np.asarray(q))
    est = np.mean(kept, 0)
    print("eps %.3f  corr with truth %.2f" % (step.eps, np.corrcoef(est, beta)[0, 1]))


if __name__ == "__main__":
    main()
