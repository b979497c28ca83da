import numpy as np

import kalman
from tracker import Tracker


class Scene:
    """Aircraft that enter and leave, watched by three stations."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.entry = [(0, 40), (0, 18), (0, 40), (10, 40), (16, 28), (22, 40)]
        self.start = self.rng.uniform(-20, 20, (6, 2))
        self.vel = self.rng.uniform(-1, 1, (6, 2))
        self.down = {6: (1,), 13: (0, 2), 20: (1,), 25: (1, 2)}

    def scan(self, k):
        t = k * kalman.dt
        live = [i for i, (a, b) in enumerate(self.entry) if a <= k < b]
        pos = self.start[live] + t * self.vel[live]
        return (pos + 0.1 * self.rng.standard_normal(pos.shape)).astype(np.float32)

    def beacons(self, k):
        up = np.array([s not in self.down.get(k, ()) for s in range(3)], np.float32)
        truth = np.array([[0.2, -0.1]] * 3)
        return (truth + 0.02 * self.rng.standard_normal((3, 2))).astype(np.float32), up


def main(scans=30):
    scene, tracker = Scene(), Tracker()
    bias, spread = np.zeros(2, np.float32), np.zeros(2, np.float32)
    for k in range(scans):
        bias, spread = kalman.recalibrate(bias, spread, *scene.beacons(k))
        n = tracker.update(scene.scan(k))
        if k % 5 == 0:
            print(f"scan {k:2d} tracks {n} bias {np.round(np.asarray(bias), 3)}")
    print("born", tracker.born)


if __name__ == "__main__":
    main()
