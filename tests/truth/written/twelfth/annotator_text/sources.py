from dataclasses import dataclass

import numpy as np


@dataclass
class Example:
    ids: np.ndarray
    marks: np.ndarray


class Source:
    def __init__(self, name, n, seed):
        self.name, self.n = name, n
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        raters = 3 if self.name == "panel" else 1
        for _ in range(self.n):
            ids = self.rng.integers(1, 50, int(self.rng.choice([6, 8, 10]))).astype(np.int32)
            score = (ids % 5).mean() / 4.0
            noise = self.rng.normal(scale=0.02, size=raters).astype(np.float32)
            yield Example(ids, np.full(raters, score, np.float32) + noise)


SOURCES = [("web", 24, 1), ("forum", 20, 2), ("panel", 12, 3), ("mail", 8, 4)]


def all_sources():
    for spec in SOURCES:
        yield Source(*spec)
