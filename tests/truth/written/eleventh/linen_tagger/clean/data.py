import numpy as np

VOCAB, TAGS, WIDTH = 60, 5, 16


def make_corpus(n, seed):
    rng = np.random.default_rng(seed)
    rule = np.random.default_rng(99).integers(0, TAGS, VOCAB)
    lens = rng.integers(5, WIDTH + 1, n)
    toks = np.zeros((n, WIDTH), np.int32)
    for i, k in enumerate(lens):
        toks[i, :k] = rng.integers(1, VOCAB, k)
    tags = rule[toks].astype(np.int32)
    return {"tokens": toks, "tags": tags, "mask": (toks > 0).astype(np.float32)}


class Batches:
    def __init__(self, corpus, size, seed=None):
        self.corpus = corpus
        self.size = size
        self.rng = None if seed is None else np.random.default_rng(seed)

    def __iter__(self):
        n = len(self.corpus["tokens"])
        order = np.arange(n) if self.rng is None else self.rng.permutation(n)
        for at in range(0, n - self.size + 1, self.size):
            pick = order[at:at + self.size]
            yield {k: v[pick] for k, v in self.corpus.items()}
