import numpy as np


class Corridor:
    """9-cell corridor, treasure on the right, a slippery floor."""
    n_actions = 2
    obs_dim = 9

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.pos, self.t = 3, 0
        return self.obs()

    def obs(self):
        return np.eye(9, dtype=np.float32)[self.pos]

    def step(self, a):
        self.t += 1
        d = 1 if (a == 1) ^ (self.rng.uniform() < 0.1) else -1
        self.pos = int(np.clip(self.pos + d, 0, 8))
        done = self.pos in (0, 8) or self.t >= 25
        r = {8: 5.0, 0: -1.0}.get(self.pos, -0.02)
        return self.obs(), r, done
