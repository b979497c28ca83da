import math
from typing import NamedTuple

import numpy as np


class Packed(NamedTuple):
    tokens: np.ndarray
    valid: np.ndarray
    slots: int


class Reader:
    def __init__(self, vocab, rows, width, experts, slack=1.0, seed=0):
        self.vocab, self.rows, self.width = vocab, rows, width
        self.experts, self.slack = experts, slack
        self.rng = np.random.default_rng(seed)

    def room(self, valid):
        per_expert = self.slack * int(valid.sum()) / self.experts
        return 8 * math.ceil(per_expert / 8)

    def __iter__(self):
        while True:
            easy = self.rng.random() < 0.6
            low = self.width - 2 if easy else self.width // 3
            lens = self.rng.integers(low, self.width + 1, self.rows)
            start = self.rng.integers(0, self.vocab, (self.rows, 1))
            tokens = (start + 3 * np.arange(self.width + 1)) % self.vocab
            valid = (np.arange(self.width) < lens[:, None]).astype(np.float32)
            yield Packed(tokens.astype(np.int32), valid, self.room(valid))
