import numpy as np


def spirals(n, length, seed=0):
    rng = np.random.default_rng(seed)
    ts = np.linspace(0, 3, length, dtype=np.float32)
    y0 = rng.uniform(-0.8, 0.8, (n, 2))
    decay = np.exp(-0.25 * ts)[None, :, None]
    c, s = np.cos(1.6 * ts), np.sin(1.6 * ts)
    rot = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
    return ts, (decay * np.einsum("tij,nj->nti", rot, y0)).astype(np.float32)


def dataloader(arrays, batch, rng):
    n = len(arrays[0])
    while True:
        perm = rng.permutation(n)
        for i in range(0, n - batch + 1, batch):
            yield tuple(a[perm[i : i + batch]] for a in arrays)
