"""Overnight polysomnography, one 30-second epoch per row (synthetic)."""
import numpy as np

STAGES = ("wake", "n1", "n2", "n3", "rem")
BANDS = 12


class Nights:
    def __init__(self, n_nights=7, seed=0):
        rng = np.random.default_rng(seed)
        centres = rng.normal(size=(len(STAGES), BANDS))
        self.spectra, self.stage = [], []
        for _ in range(n_nights):
            n = int(rng.integers(40, 60))
            s = np.sort(rng.integers(0, len(STAGES), n))
            self.spectra.append((centres[s] + 0.7 * rng.normal(size=(n, BANDS))).astype(np.float32))
            self.stage.append(s.astype(np.int32))
        self.x = np.concatenate(self.spectra)
        self.y = np.concatenate(self.stage)

    def __len__(self):
        return len(self.y)


class Loader:
    def __init__(self, data, size, shuffle_seed, drop_last=False):
        self.data, self.size, self.drop_last = data, size, drop_last
        self.rng = np.random.default_rng(shuffle_seed)

    def __iter__(self):
        perm = self.rng.permutation(len(self.data))
        stop = len(perm)
        if self.drop_last:
            stop -= stop % self.size
        for lo in range(0, stop, self.size):
            pick = perm[lo:lo + self.size]
            yield self.data.x[pick], self.data.y[pick]
