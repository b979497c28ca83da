import numpy as np


class KV:
    def __init__(self, dim, rows=64):
        self.rows = rows
        self.dim = dim
        self.k = self.v = None
        self.n = 0

    def load(self, keys, vals):
        n = len(keys)
        self.k = np.zeros((self.rows, self.dim), np.float32)
        self.v = np.zeros((self.rows, self.dim), np.float32)
        self.k[:n], self.v[:n] = keys, vals
        self.n = n

    def append(self, key, val):
        pos = self.n
        if pos >= self.rows:
            raise ValueError("context full")
        self.k[pos], self.v[pos] = key, val
        self.n += 1
