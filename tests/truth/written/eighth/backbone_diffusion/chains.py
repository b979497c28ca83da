import numpy as np


def synth_chain(rng, n):
    turn = rng.normal(scale=0.4, size=(n, 3)) + np.array([1.0, 0.3, 0.0])
    xyz = np.cumsum(turn, axis=0)
    return (xyz - xyz.mean(0)).astype(np.float32)


class ChainSet:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.chains = [synth_chain(rng, int(rng.integers(20, 45))) for _ in range(n)]

    def spread(self, idx):
        return np.std(np.concatenate([self.chains[i] for i in idx]))


class LengthGrouped:
    """Batches of chains of similar length, order shuffled."""

    def __init__(self, data, batch, seed):
        self.data, self.batch = data, batch
        self.rng = np.random.default_rng(seed)

    def epoch(self):
        order = sorted(range(len(self.data.chains)), key=lambda i: len(self.data.chains[i]))
        groups = [order[i:i + self.batch] for i in range(0, len(order), self.batch)]
        self.rng.shuffle(groups)
        for idx in groups:
            yield idx, collate([self.data.chains[i] for i in idx])


def collate(chains, multiple=8):
    longest = max(map(len, chains))
    room = -(-longest // multiple) * multiple
    xyz = np.zeros((len(chains), room, 3), np.float32)
    valid = np.zeros((len(chains), room), np.float32)
    for row, c in enumerate(chains):
        xyz[row, : len(c)] = c
        valid[row, : len(c)] = 1.0
    return xyz, valid
