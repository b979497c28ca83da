import collections

import numpy as np

VOCAB = 64
SEQ = 24
Batch = collections.namedtuple("Batch", "tokens real")


def documents(seed):
    rng = np.random.default_rng(seed)
    while True:
        body = rng.integers(1, VOCAB, size=SEQ)
        body[1::2] = (body[::2] + 1) % (VOCAB - 1) + 1
        if rng.random() < 0.12:
            body[int(rng.integers(SEQ // 2, SEQ)):] = 0
        yield body


def batched(stream, size):
    while True:
        toks = np.stack([next(stream) for _ in range(size)]).astype(np.int32)
        yield Batch(toks, int(np.count_nonzero(toks)))
