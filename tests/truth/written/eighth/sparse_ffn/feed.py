import math
from dataclasses import dataclass

import numpy as np

PAD = 0


@dataclass
class Packed:
    tokens: np.ndarray
    live: np.ndarray
    slots: int

    @property
    def fill(self):
        return float(self.live.mean())


class Packer:
    def __init__(self, budget, experts, slack, vocab, seed):
        self.budget, self.experts, self.slack, self.vocab = budget, experts, slack, vocab
        self.rng = np.random.default_rng(seed)

    def documents(self):
        while True:
            n = int(self.rng.integers(6, 22))
            start = int(self.rng.integers(1, self.vocab))
            yield 1 + (start + 3 * np.arange(n)) % (self.vocab - 1)

    def __iter__(self):
        held = []
        for doc in self.documents():
            if sum(map(len, held)) + len(doc) > self.budget:
                yield self.seal(held)
                held = []
            held.append(doc)

    def seal(self, docs):
        flat = np.concatenate(docs)
        row = np.full(self.budget, PAD, np.int32)
        row[: flat.size] = flat
        return Packed(row, (row != PAD).astype(np.float32), math.ceil(self.slack * flat.size / self.experts))
