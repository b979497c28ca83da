import numpy as np


class KV:
    def __init__(self, dim, block=16):
        self.block = block
        self.dim = dim
        self.k = self.v = None
        self.n = 0

    def load(self, keys, vals):
        n = len(keys)
        rows = -(-n // self.block) * self.block
        self.k = np.zeros((rows, self.dim), np.float32)
        self.v = np.zeros((rows, self.dim), np.float32)
        self.k[:n], self.v[:n] = keys, vals
        self.n = n

    def append(self, key, val):
        pos = self.n
        if pos >= len(self.k):
            self.k, self.v = (np.concatenate([t, np.zeros((self.block, t.shape[1]), t.dtype)]) for t in (self.k, self.v))
        self.k[pos], self.v[pos] = key, val
        self.n += 1
