import numpy as np


class LeafTable:
    def __init__(self, n, batch, seed):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(n, 12)).astype(np.float32)
        w = rng.normal(size=(12, 5))
        self.y = np.argmax(self.x @ w, axis=1).astype(np.int32)
        self.batch = batch
        self.rng = rng

    def __iter__(self):
        order = self.rng.permutation(len(self.x))
        for lo in range(0, len(order) - self.batch + 1, self.batch):
            take = order[lo:lo + self.batch]
            yield self.x[take], self.y[take]


def holdout(n=32, seed=9):
    t = LeafTable(n, n, seed)
    return t.x, t.y
