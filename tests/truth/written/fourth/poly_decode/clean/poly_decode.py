"""Melody sampler: tiny attention decoder with a key/value cache, one note at a time."""
from typing import Iterator, NamedTuple
import numpy as np
import torch
import torch_xla

NOTES, D, MAXLEN = 24, 16, 14


class Request(NamedTuple):
    seed_note: int
    length: int
    warmth: float          # >1 flatter, <1 sharper


class Weights:
    def __init__(self, dev, seed=31):
        r = np.random.default_rng(seed)

        def mat(*s):
            return torch.from_numpy((r.standard_normal(s) / np.sqrt(s[0])).astype(np.float32)).to(dev)
        self.emb, self.q, self.k, self.v, self.o = mat(NOTES, D), mat(D, D), mat(D, D), mat(D, D), mat(D, NOTES)
        self.pos = mat(MAXLEN, D)


class Sampler:
    def __init__(self):
        self.dev = torch_xla.device()
        self.w = Weights(self.dev)
        self.slots = torch.arange(MAXLEN, device=self.dev)
        self.rng = np.random.default_rng(6)
        self.reset()
        self._advance = torch_xla.compile(self.advance)
        self._pick = torch_xla.compile(self.pick)

    def reset(self):
        self.K = torch.zeros(MAXLEN, D, device=self.dev)
        self.V = torch.zeros(MAXLEN, D, device=self.dev)
        torch_xla.sync()

    def advance(self, note, upto):
        """note: LongTensor[1] -> logits[NOTES]; writes the cache in place"""
        w = self.w
        x = w.emb[note][0] + w.pos.index_select(0, upto)[0]
        self.K.index_copy_(0, upto, (x @ w.k)[None])
        self.V.index_copy_(0, upto, (x @ w.v)[None])
        att = (self.K @ (x @ w.q)) / D ** 0.5
        att = torch.softmax(att.masked_fill(self.slots > upto, -1e9), 0)
        return (x + att @ self.V) @ w.o

    def pick(self, logits, u, sharp):
        p = torch.softmax(logits, 0) ** sharp
        c = torch.cumsum(p / p.sum(), 0)
        return (c < u).sum().clamp(max=NOTES - 1)[None]

    def stream(self, req: Request) -> Iterator[int]:
        self.reset()
        sharp = torch.tensor(1.0 / req.warmth).to(self.dev)
        note = torch.tensor([req.seed_note]).to(self.dev)
        for i in range(req.length):
            upto = torch.tensor([i]).to(self.dev)
            logits = self._advance(note, upto)
            u = torch.tensor(self.rng.random(), dtype=torch.float32).to(self.dev)
            note = self._pick(logits, u, sharp)
            yield int(note)


REQUESTS = [
    Request(3, 8, 0.8), Request(11, 8, 0.8), Request(7, 14, 0.8),
    Request(3, 8, 1.3), Request(20, 8, 0.6),
]


def main():
    s = Sampler()
    tunes = [list(s.stream(r)) for r in REQUESTS]
    print(sum(map(sum, tunes)), [len(t) for t in tunes])


if __name__ == "__main__":
    main()
