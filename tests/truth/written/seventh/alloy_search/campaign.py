import numpy as np

import surrogate


class Lab:
    """The (slow, noisy) instrument."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def measure(self, x):
        hidden = -np.sum((x - np.array([0.3, 0.7, 0.5])) ** 2) + 0.3 * np.cos(6 * x[0])
        return float(hidden + 0.01 * self._rng.standard_normal())


class Notebook:
    def __init__(self):
        self._x, self._y = [], []

    def record(self, x, y):
        self._x.append(x)
        self._y.append(y)

    @property
    def design(self):
        return np.stack(self._x).astype(np.float32)

    @property
    def outcome(self):
        y = np.asarray(self._y, np.float32)
        return (y - y.mean()) / (y.std() + 1e-6)

    def __len__(self):
        return len(self._y)


class Campaign:
    def __init__(self, lab, seed=0):
        self.lab, self.book = lab, Notebook()
        self.rng = np.random.default_rng(seed)
        self.hope = 1.0
        zero = np.float32(0.0)
        self.theta = {"ls": np.full(3, -1.0, np.float32), "amp": zero, "noise": np.float32(-4.0)}

    def seed(self, n=4):
        for x in self.rng.random((n, 3)):
            self.book.record(x.astype(np.float32), self.lab.measure(x))

    def propose(self):
        X, y = self.book.design, self.book.outcome
        self.theta, nlml = surrogate.fit(self.theta, X, y)
        cand = self.rng.random((128, 3)).astype(np.float32)
        rule = "improve" if self.hope > 0.2 else "explore"
        i, score = surrogate.acquire(self.theta, X, y, cand, y.max(), rule=rule)
        self.hope = float(score)
        return cand[int(i)], float(nlml), self.hope

    def run(self, rounds):
        self.seed()
        for r in range(rounds):
            tray = [self.propose() for _ in range(2)]
            for x, _, score in tray:
                self.book.record(x, self.lab.measure(x))
            print(f"{r:2d} n={len(self.book)} nlml={tray[-1][1]:.3f} score={score:.4f} best={max(self.book._y):.4f}")
