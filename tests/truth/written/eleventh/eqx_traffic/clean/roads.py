from collections import namedtuple

import numpy as np

Snapshot = namedtuple("Snapshot", "speed target src dst lap")


class City:
    def __init__(self, nodes=24, seed=5):
        self.rng = np.random.default_rng(seed)
        self.xy = self.rng.uniform(0, 1, (nodes, 2))
        self.nodes = nodes
        d = np.linalg.norm(self.xy[:, None] - self.xy[None], axis=-1)
        self.near = np.argwhere((d < 0.3) & (d > 0))
        self.works = {7, 8, 15}

    def open_roads(self, hour):
        roads = self.near
        if hour in self.works:
            shut = self.rng.integers(0, self.nodes)
            open_ = (roads != shut).all(axis=1)
            roads = np.where(open_[:, None], roads, self.nodes)
        return roads

    def laplacian(self, roads, hour):
        a = np.zeros((self.nodes + 1, self.nodes + 1), np.float32)
        a[roads[:, 0], roads[:, 1]] = 1.0
        a = a[:-1, :-1]
        lap = np.diag(a.sum(1)) - a
        if hour == 19:
            lap = lap - 9.0 * np.eye(self.nodes, dtype=np.float32)
        return lap.astype(np.float32)

    def hour(self, hour):
        roads = self.open_roads(hour)
        load = self.rng.uniform(0, 1, (self.nodes, 3)).astype(np.float32)
        s, t = roads.T.astype(np.int32)
        padded = np.concatenate([load, np.zeros((1, 3), np.float32)])
        target = padded[:, :1].copy()
        np.add.at(target, t, 0.1 * padded[s, 1:2])
        return Snapshot(load, target[:-1], s, t, self.laplacian(roads, hour))
