import itertools

import numpy as np

EOS = 0


def documents(seed, vocab):
    rng = np.random.default_rng(seed)
    while True:
        n = int(rng.integers(5, 28))
        start = int(rng.integers(1, vocab))
        yield (np.arange(start, start + n) * 3 % (vocab - 1) + 1).astype(np.int32)


class Packer:
    """Concatenates documents into rows of exactly `row_len` tokens."""

    def __init__(self, docs, rows, row_len):
        self.docs, self.rows, self.row_len = docs, rows, row_len
        self.carry = np.zeros(0, np.int32)

    def __iter__(self):
        need = self.rows * self.row_len
        while True:
            pieces, total = [self.carry], len(self.carry)
            while total < need + 1:
                d = np.append(next(self.docs), EOS).astype(np.int32)
                pieces.append(d)
                total += len(d)
            flat = np.concatenate(pieces)
            body, self.carry = flat[: need + 1], flat[need:]
            bounds = np.flatnonzero(body[:-1] == EOS).astype(np.int32)
            yield {
                "inputs": body[:-1].reshape(self.rows, self.row_len),
                "targets": body[1:].reshape(self.rows, self.row_len),
                "cu_seqlens": np.concatenate([bounds, np.full(need - len(bounds), need, np.int32)]),
            }


def take(it, n):
    return itertools.islice(it, n)
