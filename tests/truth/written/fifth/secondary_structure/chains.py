import numpy as np


class ChainSet:
    """Random chains whose secondary structure follows a hidden Markov rule."""

    def __init__(self, cfg, n=40, seed=0):
        rng = np.random.default_rng(seed)
        self.cfg = cfg
        self.items = []
        for _ in range(n):
            length = int(rng.integers(28, cfg.max_residues))
            ss = np.zeros(length, np.int32)
            for i in range(1, length):
                ss[i] = ss[i - 1] if rng.random() < 0.85 else rng.integers(cfg.states)
            aa = (ss * 6 + rng.integers(0, 8, length)) % len(cfg.alphabet)
            self.items.append((aa.astype(np.int32), ss))

    def __len__(self):
        return len(self.items) // self.cfg.batch

    def batches(self, rng):
        order = rng.permutation(len(self.items))
        for b in range(len(self)):
            chunk = order[b * self.cfg.batch:(b + 1) * self.cfg.batch]
            yield self.collate([self.items[i] for i in chunk])

    def collate(self, chains):
        width = max(len(aa) for aa, _ in chains)
        tokens = np.full((len(chains), width), self.cfg.pad_id, np.int32)
        labels = np.zeros((len(chains), width), np.int32)
        for row, (aa, ss) in enumerate(chains):
            tokens[row, : len(aa)] = aa
            labels[row, : len(ss)] = ss
        return {"tokens": tokens, "labels": labels, "valid": tokens != self.cfg.pad_id}
