import random
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Plan:
    spans: list = field(default_factory=list)
    gain: float = 1.0


class Planner:
    def __init__(self, frames, span=6, seed=3):
        self.rng = random.Random(seed)
        self.frames, self.span = frames, span

    def draw(self):
        start = self.rng.randrange(0, self.frames - self.span, 9)
        return Plan(spans=[(start, start + self.span)], gain=self.rng.uniform(0.8, 1.2))


class Mixer:
    """mixup on the host side, Zhang et al. 2018"""

    def __init__(self, share=0.4, alpha=0.4, seed=8):
        self.rng = np.random.default_rng(seed)
        self.share, self.alpha = share, alpha

    def __call__(self, x, y):
        if self.rng.random() >= self.share:
            return x, y
        order = self.rng.permutation(len(x))
        lam = self.rng.beta(self.alpha, self.alpha, size=(len(x), 1))
        x = (lam[..., None] * x + (1 - lam[..., None]) * x[order]).astype(x.dtype)
        return x, lam * y + (1 - lam) * y[order]
