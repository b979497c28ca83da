import numpy as np

STAGES = ((0, 8), (4, 12), (8, 16))


def length_at(it):
    length = STAGES[0][1]
    for begin, n in STAGES:
        if it >= begin:
            length = n
    return length


class Corpus:
    def __init__(self, n=600, vocab=13, seed=2):
        rng = np.random.default_rng(seed)
        walk = np.cumsum(rng.integers(-2, 3, n))
        self.notes = (walk % vocab).astype(np.int32)
        self.vocab = vocab
        self.rng = rng

    def crop(self, window, batch=6):
        offs = self.rng.integers(0, len(self.notes) - window - 1, batch)
        seq = np.stack([self.notes[o:o + window + 1] for o in offs])
        full = STAGES[-1][1] + 1
        live = np.broadcast_to(np.arange(full - 1) < window, (batch, full - 1)).astype(np.float32)
        return np.pad(seq, ((0, 0), (0, full - seq.shape[1]))), live
