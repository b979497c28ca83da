import numpy as np


class Ring:
    """Host-side transition store with optional proportional priorities."""

    def __init__(self, capacity, obs_dim, alpha=0.6, per_after=160):
        self.capacity, self.alpha, self.per_after = capacity, alpha, per_after
        self.obs = np.zeros((capacity, obs_dim), np.float32)
        self.nxt = np.zeros((capacity, obs_dim), np.float32)
        self.act = np.zeros(capacity, np.int32)
        self.rew = np.zeros(capacity, np.float32)
        self.end = np.zeros(capacity, np.float32)
        self.prio = np.ones(capacity, np.float32)
        self.ptr = 0
        self.seen = 0

    def push(self, obs, act, rew, nxt, end):
        n = len(act)
        idx = (self.ptr + np.arange(n)) % self.capacity
        self.obs[idx], self.nxt[idx] = obs, nxt
        self.act[idx], self.rew[idx], self.end[idx] = act, rew, end
        self.prio[idx] = self.prio.max()
        self.ptr = int((self.ptr + n) % self.capacity)
        self.seen += n

    def __len__(self):
        return min(self.seen, self.capacity)

    def view(self):
        filled = np.arange(self.capacity) < len(self)
        return {"obs": self.obs, "act": self.act, "filled": filled}

    def draw(self, rng, size):
        n = len(self)
        if self.seen < self.per_after:
            idx = rng.integers(0, n, size)
            extra = {"weight": np.ones(size, np.float32)}
        else:
            p = self.prio[:n] ** self.alpha
            p = p / p.sum()
            idx = rng.choice(n, size, p=p)
            w = (n * p[idx]) ** -0.4
            extra = {"weight": (w / w.max()).astype(np.float32)}
        batch = dict(obs=self.obs[idx], act=self.act[idx], rew=self.rew[idx], nxt=self.nxt[idx], end=self.end[idx])
        batch.update(extra)
        return idx, batch

    def reprioritise(self, idx, td):
        self.prio[idx] = np.abs(td) + 1e-3
