import dataclasses

import numpy as np

import kalman


@dataclasses.dataclass
class Track:
    tid: int
    mean: np.ndarray
    cov: np.ndarray
    missed: int = 0


class Tracker:
    SLOTS = 16

    def __init__(self, gate=2.0, patience=2):
        self.gate, self.patience = gate, patience
        self.alive = []
        self.born = 0

    def _spawn(self, z):
        self.alive.append(Track(self.born, np.array([*z, 0, 0], np.float32), np.eye(4, dtype=np.float32)))
        self.born += 1

    def _assign(self, zs):
        free, chosen = list(range(len(zs))), []
        for tr in self.alive:
            pos = tr.mean[:2] + kalman.dt * tr.mean[2:]
            near = sorted(free, key=lambda j: np.linalg.norm(zs[j] - pos))
            if near and np.linalg.norm(zs[near[0]] - pos) < self.gate:
                chosen.append(near[0])
                free.remove(near[0])
            else:
                chosen.append(None)
        return chosen, free

    def update(self, zs):
        chosen, free = self._assign(zs)
        if self.alive:
            m = np.zeros((self.SLOTS, 4), np.float32)
            P = np.tile(np.eye(4, dtype=np.float32), (self.SLOTS, 1, 1))
            z = np.zeros((self.SLOTS, 2), np.float32)
            seen = np.zeros(self.SLOTS, bool)
            for i, (t, c) in enumerate(zip(self.alive, chosen)):
                m[i], P[i] = t.mean, t.cov
                if c is not None:
                    z[i], seen[i] = zs[c], True
            m, P, innov = map(np.asarray, kalman.advance(m, P, z, seen))
            for i, t in enumerate(self.alive):
                t.mean, t.cov = m[i], P[i]
                t.missed = 0 if seen[i] else t.missed + 1
            self.alive = [t for t in self.alive if t.missed <= self.patience]
        for j in free:
            self._spawn(zs[j])
        return len(self.alive)
