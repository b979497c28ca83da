"""Random molecule-like graphs, padded to a common edge count."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from functools import partial

MAX_ATOMS, MAX_BONDS = 20, 48


@dataclass
class Mol:
    atoms: np.ndarray
    src: np.ndarray
    dst: np.ndarray
    bond_ok: np.ndarray
    scale: np.ndarray
    target: np.float32


@partial(jax.jit, static_argnames=("n",))
def degree_scale(dst, ok, n):
    deg = jax.ops.segment_sum(ok, dst, num_segments=n)
    return jnp.where(deg > 0, jax.lax.rsqrt(jnp.maximum(deg, 1.0)), 0.0)


def normaliser(dst, ok):
    return np.asarray(degree_scale(dst, ok, MAX_ATOMS))


def random_mol(rng, kind):
    n = {"small": 9, "mid": 13, "big": 18}[kind]
    parent = [int(rng.integers(max(0, i - 3), i)) for i in range(1, n)]
    a = np.r_[np.arange(1, n), parent]
    b = np.r_[parent, np.arange(1, n)]
    src = np.zeros(MAX_BONDS, np.int32)
    dst = np.zeros(MAX_BONDS, np.int32)
    ok = np.zeros(MAX_BONDS, np.float32)
    src[:len(a)], dst[:len(a)], ok[:len(a)] = a, b, 1
    atoms = np.zeros((MAX_ATOMS, 4), np.float32)
    atoms[:n] = np.eye(4)[rng.integers(0, 4, n)]
    y = np.float32(atoms[:, 0].sum() - 0.5 * atoms[:, 3].sum())
    return Mol(atoms, src, dst, ok, normaliser(dst, ok), y)


def dataset(n, seed=0):
    rng = np.random.default_rng(seed)
    kinds = ["small"] * (n // 2) + ["mid"] * (n // 3) + ["big"] * n
    return [random_mol(rng, k) for k in kinds[:n]]
