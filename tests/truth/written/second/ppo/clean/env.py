import numpy as np


class Cart:
    """A pole that falls sooner or later."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.normal(size=4) * 0.05
        self.patience = 24
        self.t = 0
        return self.state.astype(np.float32)

    def step(self, action):
        self.t += 1
        self.state = 0.95 * self.state + 0.1 * (action - 0.5) + self.rng.normal(size=4) * 0.02
        return self.state.astype(np.float32), 1.0, self.t >= self.patience


class Collector:
    def __init__(self, env, policy):
        self.env, self.policy = env, policy

    def __iter__(self):
        while True:
            obs, acts, rews = [], [], []
            o, done = self.env.reset(), False
            while not done:
                a = self.policy(o)
                obs.append(o)
                acts.append(a)
                o, r, done = self.env.step(a)
                rews.append(r)
            yield {"obs": np.stack(obs), "act": np.asarray(acts, np.int32), "ret": np.cumsum(rews[::-1])[::-1].astype(np.float32)}
