import numpy as np


class CrawlerBatch:
    """A batch of point crawlers that must reach the origin; numpy on the host."""

    def __init__(self, n, limit, seed):
        self.n, self.limit = n, limit
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x = self.rng.uniform(0.3, 0.7, size=(self.n, 2)).astype(np.float32)
        self.t = 0
        self.done = np.zeros(self.n, bool)
        return self.x.copy()

    def step(self, action):
        push = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)[action] * 0.15
        self.x = np.where(self.done[:, None], self.x, self.x + push)
        self.t += 1
        near = np.linalg.norm(self.x, axis=1)
        self.done |= near < 0.25
        self.done |= near > 1.3
        return self.x.copy(), -near, self.done.copy()

    @property
    def over(self):
        return self.t >= self.limit or self.done.mean() >= 0.5
