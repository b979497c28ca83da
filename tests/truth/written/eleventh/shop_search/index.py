import numpy as np


class ProductIndex:
    def __init__(self, dim):
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
            self._packed = np.stack(self._rows)
        boost = np.log1p(np.asarray(self._clicks, np.float32))
        return self._packed, boost
