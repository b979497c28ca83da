import numpy as np


def boundary(n, rng):
    t = rng.uniform(0, 1, n)
    x = rng.uniform(0, 1, n)
    side = rng.integers(0, 3, n)
    x = np.where(side == 0, 0.0, np.where(side == 1, 1.0, x))
    t = np.where(side == 2, 0.0, t)
    value = np.where(side == 2, np.sin(np.pi * x), 0.0)
    return np.stack([t, x], 1).astype(np.float32), value.astype(np.float32)


class Cloud:
    def __init__(self, n, rng):
        self.rng = rng
        self.points = rng.uniform(0, 1, (n, 2)).astype(np.float32)

    def candidates(self, n=64):
        return self.rng.uniform(0, 1, (n, 2)).astype(np.float32)

    def refine(self, cand, score, keep=16):
        worst = np.argsort(-score)[:keep]
        self.points = np.concatenate([self.points[keep:], cand[worst]])
