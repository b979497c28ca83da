"""Toy radar front end.  One frame = 16 raw returns + a detector score for each."""
import numpy as np

N_RAW = 16


class Radar:
    def __init__(self, n_targets=5, seed=11, noise=0.15):
        self.rng = np.random.default_rng(seed)
        self.noise = noise
        self.pos = self.rng.uniform(-8, 8, (n_targets, 2))
        self.vel = self.rng.normal(0, 0.4, (n_targets, 2))

    @property
    def truth(self):
        return self.pos.copy()

    def _advance(self, dt):
        self.pos += dt * self.vel
        bounce = np.abs(self.pos) > 10
        self.vel = np.where(bounce, -self.vel, self.vel)

    def frames(self, n):
        """Yield (ticks since the previous frame, returns, scores)."""
        for _ in range(n):
            ticks = 1 + int(self.rng.binomial(3, 0.25))
            self._advance(0.1 * ticks)
            ret = self.rng.uniform(-10, 10, (N_RAW, 2))
            sc = self.rng.beta(2, 5, N_RAW)
            m = len(self.pos)
            ret[:m] = self.pos + self.noise * self.rng.normal(size=(m, 2))
            sc[:m] = self.rng.beta(9, 2, m)
            order = self.rng.permutation(N_RAW)
            yield ticks, ret[order].astype("f4"), sc[order].astype("f4")
