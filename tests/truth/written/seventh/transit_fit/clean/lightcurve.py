import numpy as np


class LightCurve:
    def __init__(self, time, flux):
        self.time = np.asarray(time, np.float32)
        self.flux = np.asarray(flux, np.float32)
        self._good = np.ones(self.time.shape, bool)

    @classmethod
    def simulate(cls, seed, n=240):
        rng = np.random.default_rng(seed)
        t = np.linspace(-1.0, 1.0, n)
        depth, width = 0.02 + 0.01 * rng.random(), 0.2 + 0.1 * rng.random()
        f = 1.0 - depth / (1.0 + np.exp((np.abs(t) - width) / 0.02)) + 0.001 * rng.standard_normal(n)
        bad = rng.choice(n, int(rng.integers(2, 9)), replace=False)
        f[bad] += rng.normal(0, 0.05, bad.size)
        return cls(t, f)

    @property
    def points(self):
        return self.time, self.flux, self._good.astype(np.float32)

    def reject(self, model, nsigma=4.0):
        r = np.abs(self.flux - model)
        spread = 1.4826 * np.median(r[self._good])
        new = self._good & (r < nsigma * spread)
        changed = int(self._good.sum() - new.sum())
        self._good = new
        return changed
