import numpy as np

BASES = "ACGT"
MOTIF = "TATAAA"


class Windows:
    def __init__(self, n, length, seed):
        self.rng = np.random.default_rng(seed)
        ids = self.rng.integers(0, 4, (n, length))
        self.labels = self.rng.integers(0, 2, n).astype(np.int32)
        code = [BASES.index(c) for c in MOTIF]
        for i in np.flatnonzero(self.labels):
            at = self.rng.integers(0, length - len(code))
            ids[i, at:at + len(code)] = code
        self.onehot = np.eye(4, dtype=np.float32)[ids]

    def epoch(self, size):
        order = self.rng.permutation(len(self.labels))
        for lo in range(0, len(order), size):
            rows = np.resize(order[lo:lo + size], size)
            yield {"seq": self.onehot[rows], "y": self.labels[rows], "real": (np.arange(size) < len(order) - lo).astype(np.float32)}
