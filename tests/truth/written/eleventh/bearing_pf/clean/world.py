import numpy as np


class Room:
    def __init__(self, seed=8):
        self.rng = np.random.default_rng(seed)
        self.beacons = self.rng.uniform(0, 10, (4, 2)).astype(np.float32)
        self.pose = np.array([2.0, 2.0], np.float32)
        self.appear = [0, 0, 9, 18]

    def walk(self, t):
        self.move = np.array([0.3 * np.cos(t / 6), 0.3 * np.sin(t / 6)], np.float32)
        self.pose = self.pose + self.move
        return self.move + self.rng.normal(0, 0.02, 2).astype(np.float32)

    def sense(self, t):
        dist = np.linalg.norm(self.pose - self.beacons, axis=1) + self.rng.normal(0, 0.1, 4)
        live = t >= np.asarray(self.appear)
        return self.beacons, dist.astype(np.float32), live.astype(np.float32)
