import numpy as np


class Ring:
    """Simulated storage ring: corrector settings in, turn-by-turn monitor trace out."""

    def __init__(self, knobs, turns, seed):
        self.rng = np.random.default_rng(seed)
        self.best = self.rng.uniform(-0.5, 0.5, size=knobs)
        self.turns = turns

    def trace(self, setting):
        miss = np.sum((setting - self.best) ** 2)
        t = np.arange(self.turns)
        return (miss * np.cos(0.31 * t) + 0.02 * self.rng.normal(size=self.turns)).astype(np.float32)


class Cursor:
    """Where in the trace the kicker fired."""

    def __init__(self, period):
        self.period = period
        self.fired = 0

    def __enter__(self):
        self.fired += 1
        return self

    def __exit__(self, *exc):
        return False

    def tell(self):
        return 16 + (self.fired // self.period) * 8
