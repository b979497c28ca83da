"""A table of numbers with a target, and a loader."""
import numpy as np


class Table:
    def __init__(self, rows, columns, seed):
        rng = np.random.default_rng(seed)
        self.x = rng.standard_normal((rows, columns)).astype(np.float32)
        weights = rng.standard_normal(columns).astype(np.float32)
        self.y = np.tanh(self.x @ weights) + 0.1 * rng.standard_normal(rows).astype(np.float32)

    def __len__(self):
        return len(self.x)

    def split(self, fraction):
        at = int(len(self) * fraction)
        left, right = object.__new__(Table), object.__new__(Table)
        left.x, right.x = self.x[:at], self.x[at:]
        left.y, right.y = self.y[:at], self.y[at:]
        return left, right


class Loader:
    def __init__(self, table, size, shuffle=True):
        self.table, self.size, self.shuffle = table, size, shuffle
        self.rng = np.random.default_rng(0)

    def __iter__(self):
        index = np.arange(len(self.table))
        if self.shuffle:
            self.rng.shuffle(index)
        while index.size:
            head, index = index[:self.size], index[self.size:]
            yield self.table.x[head], self.table.y[head]
