import random
from typing import NamedTuple

import torch


class PairBatch(NamedTuple):
    query: torch.Tensor
    answer: torch.Tensor
    query_keep: torch.Tensor
    answer_keep: torch.Tensor

    def to(self, device):
        return PairBatch(*(t.to(device) for t in self))


class PairSource:
    def __init__(self, vocab=60, seed=14):
        self.rng = random.Random(seed)
        self.vocab = vocab

    def draw(self, n):
        out = []
        for _ in range(n):
            topic = self.rng.randrange(1, self.vocab - 6)
            q = [topic + self.rng.randrange(6) for _ in range(self.rng.choice((5, 6, 7, 8)))]
            a = [topic + self.rng.randrange(6) for _ in range(self.rng.choice((7, 9, 11, 12)))]
            out.append((q, a))
        return out


class Stacker:
    def __init__(self, limit=12, pad=0):
        self.limit, self.pad = limit, pad

    def block(self, seqs):
        span = min(self.limit, max(len(s) for s in seqs))
        rows = [s[:span] + [self.pad] * (span - len(s)) for s in seqs]
        ids = torch.tensor(rows)
        return ids, ids.ne(self.pad).float()

    def __call__(self, pairs):
        (q, qk), (a, ak) = (self.block(side) for side in zip(*pairs))
        return PairBatch(q, a, qk, ak)
