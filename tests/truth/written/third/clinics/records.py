import numpy as np

from model import N_CLINICS


def cohort(n=310, seed=6):
    g = np.random.default_rng(seed)
    effect = g.normal(0, 0.8, N_CLINICS)
    clinic = np.sort(g.integers(0, N_CLINICS, n)).astype(np.int32)
    dose = g.uniform(-1, 1, n).astype(np.float32)
    p = 1 / (1 + np.exp(-(0.3 + effect[clinic] + 1.2 * dose)))
    y = (g.uniform(size=n) < p).astype(np.float32)
    return {"clinic": clinic, "dose": dose, "y": y}


def minibatches(table, size, g):
    rows = np.array_split(g.permutation(len(table["y"])), range(size, len(table["y"]), size))
    return [{k: v[r] for k, v in table.items()} for r in rows]


def wards(table, size=30):
    """Consecutive patients, as the ward lists come in."""
    n = len(table["y"]) // size
    return [{k: v[i * size:(i + 1) * size] for k, v in table.items()} for i in range(n)]
