import equinox as eqx
import jax
import numpy as np

from walker import trial


class SafetyNet:
    """Tests the controller now and then and goes back to the best one after a fall."""

    def __init__(self, every, limit):
        self.every, self.limit = every, limit
        self.best, self.cost = None, np.inf
        self.falls = 0

    def remember(self, brain, cost):
        if cost < self.cost:
            self.best, self.cost = brain, cost

    def judge(self, brain, it, slope):
        if it % self.every != self.every - 1:
            return brain
        calm = eqx.nn.inference_mode(brain)
        lean, cost = map(float, trial(calm, slope, jax.random.key(it)))
        fell = self.best is not None and max(lean, cost) > self.limit
        self.falls += fell
        if not fell:
            self.remember(brain, cost)
        return self.best if fell else brain
