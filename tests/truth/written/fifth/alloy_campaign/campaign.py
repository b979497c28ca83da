"""Closed-loop alloy campaign: a Gaussian process proposes furnace recipes, the lab answers.

    propose -> melt -> measure -> extend the log -> propose ...
"""
from __future__ import annotations

import dataclasses
from functools import partial, reduce
from typing import Iterator

import jax
import jax.numpy as jnp
import numpy as np

DIM = 4
GRID = 512


@dataclasses.dataclass(frozen=True)
class Log:
    recipes: np.ndarray
    hardness: np.ndarray
    melts: int

    @staticmethod
    def start(recipes, hardness) -> "Log":
        return Log(recipes, hardness, len(hardness))

    def extend(self, recipes, hardness) -> "Log":
        return Log(
            np.concatenate([self.recipes, recipes]),
            np.concatenate([self.hardness, hardness]),
            self.melts + len(hardness),
        )

    @property
    def best(self) -> float:
        return float(self.hardness[: self.melts].max())

    @property
    def present(self) -> np.ndarray:
        return np.arange(len(self.hardness)) < self.melts


@dataclasses.dataclass(frozen=True)
class Furnace:
    """Crucible slots: fewer are free as the shift goes on."""
    slots: tuple[int, ...] = (4, 4, 3, 3, 2, 1)

    def rounds(self) -> Iterator[int]:
        yield from self.slots


def lab(rng, recipes):
    peak = np.array([0.3, 0.7, 0.5, 0.2])
    clean = np.exp(-4 * ((recipes - peak) ** 2).sum(1)) + 0.2 * np.sin(9 * recipes[:, 0])
    return (clean + 0.01 * rng.normal(size=len(recipes))).astype(np.float32)


def rbf(a, b, scale):
    d2 = jnp.sum((a[:, None] - b[None]) ** 2 / scale**2, -1)
    return jnp.exp(-0.5 * d2)


def masked_gram(x, present, scale, noise):
    both = present[:, None] & present[None]
    k = jnp.where(both, rbf(x, x, scale), 0.0)
    return k + jnp.diag(jnp.where(present, noise, 1.0))


@jax.jit
def evidence_step(theta, x, y, present, rate):
    def nll(th):
        k = masked_gram(x, present, jnp.exp(th[:DIM]), jnp.exp(th[DIM]) + 1e-3)
        c = jnp.linalg.cholesky(k)
        z = jax.scipy.linalg.solve_triangular(c, jnp.where(present, y, 0.0), lower=True)
        return 0.5 * z @ z + jnp.sum(jnp.log(jnp.diag(c)))

    g = jax.grad(nll)(theta)
    return theta - rate * g / (1 + jnp.linalg.norm(g))


@jax.jit
def posterior(theta, x, y, present, q):
    scale, noise = jnp.exp(theta[:DIM]), jnp.exp(theta[DIM]) + 1e-3
    c = jnp.linalg.cholesky(masked_gram(x, present, scale, noise))
    kq = rbf(x, q, scale) * present[:, None]
    v = jax.scipy.linalg.solve_triangular(c, kq, lower=True)
    w = jax.scipy.linalg.solve_triangular(c, jnp.where(present, y, 0.0), lower=True)
    return v.T @ w, jnp.sqrt(jnp.maximum(1.0 - jnp.sum(v * v, 0), 1e-6))


@partial(jax.jit, static_argnames=("k",))
def shortlist(mean, sd, best, q, k):
    gain = (mean - best) / sd
    ei = sd * (gain * jax.scipy.stats.norm.cdf(gain) + jax.scipy.stats.norm.pdf(gain))
    _, ix = jax.lax.top_k(ei, k)
    return q[ix]


def one_round(rng, state, free_slots):
    log, theta = state
    for i in range(8):
        theta = evidence_step(theta, log.recipes, log.hardness, log.present, 0.1 / (1 + i))
    q = rng.random((GRID, DIM)).astype(np.float32)
    mean, sd = posterior(theta, log.recipes, log.hardness, log.present, q)
    recipes = np.asarray(shortlist(mean, sd, log.best, q, k=free_slots))
    log = log.extend(recipes, lab(rng, recipes))
    print(f"melts {log.melts:3d}  best {log.best:.4f}")
    return log, theta


def main():
    rng = np.random.default_rng(12)
    seed = rng.random((10, DIM)).astype(np.float32)
    start = Log.start(seed, lab(rng, seed)), np.full(DIM + 1, -1.0, np.float32)
    reduce(partial(one_round, rng), Furnace().rounds(), start)


if __name__ == "__main__":
    main()
