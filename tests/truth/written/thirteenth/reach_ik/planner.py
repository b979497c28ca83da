import dataclasses

import numpy as np

from arm import ArmSpec, dls, shake, tool_error


class Planner:
    def __init__(self, spec: ArmSpec, near=0.08, window=3, patience=4):
        self.base = spec
        self.spec = spec
        self.near, self.window, self.patience = near, window, patience
        self.visited = []
        self.restarts = 0

    def _kick(self, q):
        self.spec = dataclasses.replace(self.spec, salt=self.spec.salt + 1)
        self.restarts += 1
        q = shake(self.spec, q)
        return q

    def solve(self, q, goal, tol=2e-3, limit=24):
        gap, stale, best = np.inf, 0, np.inf
        used = 0
        while gap > tol and used < limit:
            gear = "fine" if gap < self.near else "coarse"
            q, gap = dls(q, goal, spec=self.base, gear=gear)
            gap = float(gap)
            stale = 0 if gap < best - 1e-4 else stale + 1
            best = min(best, gap)
            if stale >= self.patience:
                q, stale, best = self._kick(q), 0, np.inf
            used += 1
        return q, gap, used

    def follow(self, q, goals):
        for goal in goals:
            q, gap, used = self.solve(q, goal)
            self.visited.append(np.asarray(q))
            trail = np.squeeze(np.asarray(self.visited[-self.window:]))
            yield gap, used, float(tool_error(trail, goal))
