import numpy as np

LIMIT = 16


class Recall:
    """Shown a cue at t=0; must name it when the light comes on.  The light is random."""
    obs_dim, n_actions = 5, 3

    def __init__(self, seed):
        self.g = np.random.default_rng(seed)

    def reset(self):
        self.cue = int(self.g.integers(0, 3))
        self.light = int(self.g.choice([6, 9, 15, 30]))
        self.t = 0
        return self._obs()

    def _obs(self):
        o = np.zeros(5, np.float32)
        if self.t == 0:
            o[self.cue] = 1
        o[3] = self.t >= self.light
        o[4] = self.t / LIMIT
        return o

    def step(self, a):
        over = self.t >= self.light
        r = float(a == self.cue) if over else 0.0
        self.t += 1
        return self._obs(), r, over


def play(env, policy):
    """One episode.  `bootstrap` is the observation to value the cut-off tail with."""
    obs, act, rew = [], [], []
    o, over = env.reset(), False
    policy.start()
    while not over and len(obs) < LIMIT:
        a = policy(o)
        obs.append(o)
        act.append(a)
        o, r, over = env.step(a)
        rew.append(r)
    n = len(obs)
    pad = LIMIT - n
    traj = {
        "obs": np.pad(np.stack(obs), ((0, pad), (0, 0))),
        "act": np.pad(np.array(act, np.int32), (0, pad)),
        "rew": np.pad(np.array(rew, np.float32), (0, pad)),
        "mask": (np.arange(LIMIT) < n).astype(np.float32),
        "bootstrap": np.zeros_like(o) if over else o,
        "cut": np.float32(not over),
    }
    return traj
