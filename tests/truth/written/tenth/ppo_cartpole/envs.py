import numpy as np


class VecCartPole:
    """Numpy port of the classic cart-pole, auto-resetting, one row per env."""

    obs_dim = 4
    n_actions = 2

    def __init__(self, n, seed, horizon=40):
        self.n, self.horizon = n, horizon
        self.rng = np.random.default_rng(seed)
        self.state = self._fresh(n)
        self.t = np.zeros(n, np.int32)
        self.ret = np.zeros(n, np.float32)

    def _fresh(self, n):
        return self.rng.uniform(-0.05, 0.05, (n, 4)).astype(np.float32)

    def step(self, action):
        x, v, th, w = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        tmp = (force + 0.05 * w**2 * np.sin(th)) / 1.1
        acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        xacc = tmp - 0.05 * acc * np.cos(th) / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * xacc, th + 0.02 * w, w + 0.02 * acc], 1).astype(np.float32)
        self.t += 1
        self.ret += 1.0
        done = (np.abs(self.state[:, 2]) > 0.21) | (np.abs(self.state[:, 0]) > 2.4) | (self.t >= self.horizon)
        final = self.ret.copy()
        fresh = self._fresh(self.n)
        self.state[done] = fresh[done]
        self.t[done] = 0
        self.ret[done] = 0.0
        return self.state.copy(), np.ones(self.n, np.float32), done, final
