import numpy as np


class Terrain:
    def __init__(self, seed, ridges=(11,)):
        self.ridges = ridges
        self.rng = np.random.default_rng(seed)
        self.grade = 0
        self.walked = 0

    longest = 14

    @property
    def ticks(self):
        return 6 + 4 * min(self.grade, 2)

    def slopes(self, n):
        for k in range(n):
            if k and k % 5 == 0:
                self.grade += 1
            self.walked += 1
            slope = self.rng.uniform(-0.2, 0.2, 4)
            if k in self.ridges:
                slope = 0.5 + 4 * np.abs(slope)
            yield k, slope.astype(np.float32)
