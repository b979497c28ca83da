import numpy as np


class Replay:
    def __init__(self, capacity, rng):
        self.capacity, self.rng = capacity, rng
        self.rows = []
        self.priority = None

    def add(self, *transition):
        self.rows.append(transition)
        self.rows = self.rows[-self.capacity:]

    def __len__(self):
        return len(self.rows)

    def sample(self, n):
        p = None
        if self.priority is not None:
            p = np.zeros(len(self.rows))
            p[:len(self.priority)] = self.priority
            p[len(self.priority):] = max(self.priority.max(), 1e-3)
            p = p / p.sum()
        idx = self.rng.choice(len(self.rows), n, p=p)
        o, a, r, o2, d = map(np.array, zip(*(self.rows[i] for i in idx)))
        out = dict(obs=o.astype(np.float32), action=a.astype(np.int32), reward=r.astype(np.float32),
                   next_obs=o2.astype(np.float32), done=d.astype(np.float32))
        w = np.ones(n) if p is None else (len(self.rows) * p[idx]) ** -0.5
        out["weight"] = (w / w.max()).astype(np.float32)
        return idx, out

    def refresh(self, idx, td):
        if len(self.rows) < 120:
            return
        if self.priority is None:
            self.priority = np.ones(len(self.rows))
        self.priority = np.pad(self.priority, (0, len(self.rows) - len(self.priority)), constant_values=1.0)
        self.priority[idx] = np.abs(td) + 1e-3
