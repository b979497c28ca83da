import numpy as np

B, T = 8, 16


def _docs(g, vocab):
    while True:
        n = int(g.choice([14, 15, 16]))
        start = int(g.integers(1, vocab - 1))
        yield (start + np.arange(n) * 3) % (vocab - 1) + 1


def _pack(it, seq):
    """Greedy packing of two short documents into one row."""
    a, b = next(it)[:7], next(it)[:7]
    row = np.zeros(seq, np.int32)
    row[:7], row[7:14] = a, b
    return row, np.r_[np.zeros(7), np.ones(7), np.full(seq - 14, 2)].astype(np.int32)


def batches(steps, vocab=64, seed=3):
    g = np.random.default_rng(seed)
    it = _docs(g, vocab)
    for s in range(steps):
        tok = np.zeros((B, T), np.int32)
        n = int(g.choice([8, 11, 14]))
        for i in range(B):
            d = next(it)[:n]
            tok[i, :len(d)] = d
        ex = {"tokens": tok}
        if s >= 12 and s % 6 == 0:
            rows = [_pack(it, T) for _ in range(B)]
            ex = {"tokens": np.stack([r for r, _ in rows]), "segment": np.stack([q for _, q in rows])}
        ex["valid"] = (ex["tokens"] > 0).astype(np.float32)
        yield ex
