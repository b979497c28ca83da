from dataclasses import dataclass

import numpy as np

SKIP = -100


@dataclass(frozen=True)
class Task:
    name: str
    seed: int
    batches: int
    metrics: tuple
    skip_rate: float = 0.0
    strict: bool = False

    def data(self, rows=32, dim=10, classes=6):
        rng = np.random.default_rng(self.seed)
        w = np.random.default_rng(0).normal(size=(dim, classes))
        for _ in range(self.batches):
            x = rng.normal(size=(rows, dim)).astype(np.float32)
            y = (x @ w + rng.normal(0, 0.5, (rows, classes))).argmax(1)
            y[rng.random(rows) < self.skip_rate] = SKIP
            yield x, y.astype(np.int32)


SUITE = [
    Task("plain", 1, 3, ("nll", "top1")),
    Task("noisy", 2, 3, ("nll", "ece")),
    Task("partial", 3, 3, ("nll", "top1"), skip_rate=0.2),
    Task("audit", 4, 3, ("top1", "ece"), strict=True),
]
