import numpy as np


class Pairs:
    def __init__(self, dim, batch, seed=11):
        self.rng = np.random.default_rng(seed)
        self.dim, self.batch = dim, batch
        self.cut = 0.35

    def views(self):
        base = self.rng.normal(size=(self.batch, self.dim)).astype(np.float32)
        jit_ = self.rng.normal(scale=0.2, size=base.shape).astype(np.float32)
        return base, base + jit_

    def negatives(self, anchors, pool):
        a = anchors.mean(0)
        sims = pool @ a / (np.linalg.norm(pool, axis=1) * np.linalg.norm(a))
        hard = sims > self.cut
        return pool[hard]

    def pool(self, size=16):
        return self.rng.normal(size=(size, self.dim)).astype(np.float32)
