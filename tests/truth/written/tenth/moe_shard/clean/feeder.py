from collections import deque
from typing import NamedTuple

import jax
import numpy as np


class Layout(NamedTuple):
    capacity: int
    rows: int


class Corpus:
    def __init__(self, vocab, rows, length, seed):
        self.vocab, self.rows, self.length = vocab, rows, length
        self.rng = np.random.default_rng(seed)

    def batch(self):
        start = self.rng.integers(0, self.vocab, (self.rows, 1))
        tok = (start + 5 * np.arange(self.length + 1)) % self.vocab
        n = self.rng.integers(self.length * 3 // 4, self.length + 1, self.rows)
        live = (np.arange(self.length)[None] < n[:, None]).astype(np.float32)
        return {"tokens": tok[:, :-1].astype(np.int32), "next": tok[:, 1:].astype(np.int32), "live": live}


def plan(rows, length, experts, factor):
    per_expert = -(-int(rows * length * factor) // experts)
    return Layout(capacity=-(-per_expert // 8) * 8, rows=rows)


class HardRows:
    def __init__(self, rows):
        self.rows = rows
        self.pool = deque(maxlen=64)

    def note(self, batch, score):
        host = {k: np.asarray(v) for k, v in batch.items()}
        for i in np.argsort(-np.asarray(score))[:2]:
            self.pool.append({k: v[i] for k, v in host.items()})

    def ready(self):
        return len(self.pool) >= self.rows

    def pop(self):
        picked = [self.pool.popleft() for _ in range(self.rows)]
        return {k: np.stack([r[k] for r in picked]) for k in picked[0]}


class Feeder:
    def __init__(self, corpus, sharding, hard, experts, factor):
        self.corpus, self.sharding, self.hard = corpus, sharding, hard
        self.layout = plan(corpus.rows, corpus.length, experts, factor)

    def __iter__(self):
        while True:
            batch = self.hard.pop() if self.hard.ready() else self.corpus.batch()
            yield jax.device_put(batch, self.sharding), self.layout
