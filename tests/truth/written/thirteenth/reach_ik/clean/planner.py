import numpy as np

from arm import ArmSpec, dls, shake, tool_error


class Planner:
    def __init__(self, spec: ArmSpec, near=0.08, window=3, patience=4):
        self.spec = spec
        self.near, self.window, self.patience = near, window, patience
        self.visited = []
        self.restarts = 0

    def _kick(self, q):
        self.restarts += 1
        q = shake(self.spec, q, self.restarts)
        return q

    def solve(self, q, goal, tol=2e-3, limit=24):
        gap, stale, best = np.inf, 0, np.inf
        used = 0
        while gap > tol and used < limit:
            q, gap = dls(q, goal, gap, self.near, spec=self.spec)
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
            recent = self.visited[-self.window:]
            live = (np.arange(self.window) < len(recent)).astype(np.float32)
            trail = np.stack(recent + [recent[-1]] * (self.window - len(recent)))
            yield gap, used, float(tool_error(trail, live, goal))
