import numpy as np


class ProductIndex:
    def __init__(self, dim, capacity=512):
        self.capacity = capacity
        self.dim = dim
        self._rows = []
        self._clicks = []
        self._packed = None

    def __len__(self):
        return len(self._rows)

    def upsert(self, vectors):
        for v in np.asarray(vectors, np.float32):
            self._rows.append(v / np.linalg.norm(v))
            self._clicks.append(0)
        self._packed = None

    def click(self, row):
        self._clicks[row] += 1

    def snapshot(self):
        if self._packed is None:
            self._packed = np.zeros((self.capacity, self.dim), np.float32)
            self._packed[: len(self)] = self._rows
        boost = np.zeros(self.capacity, np.float32)
        boost[: len(self)] = np.log1p(self._clicks)
        return self._packed, boost, np.arange(self.capacity) < len(self)
