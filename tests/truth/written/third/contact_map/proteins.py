import numpy as np

CROP, AA = 40, 20


class Folds:
    """Fake chains: a smooth random walk in 3-d, residues missing here and there."""

    def __init__(self, seed):
        self.g = np.random.default_rng(seed)
        self.missing = [0, 0, 0, 0, 4, 0, 9, 4, 0, 9]
        self.drawn = 0

    def chain(self):
        g = self.g
        steps = g.normal(size=(CROP, 3))
        for _ in range(2):
            steps = 0.6 * steps + 0.4 * np.roll(steps, 1, 0)
        xyz = np.cumsum(steps, 0)
        seq = g.integers(0, AA, CROP)
        feat = np.concatenate([np.eye(AA)[seq], xyz / 10 + 0.1 * g.normal(size=xyz.shape)], 1)
        d = np.linalg.norm(xyz[:, None] - xyz[None], axis=-1)
        resolved = np.ones(CROP, bool)
        gone = self.missing[self.drawn % len(self.missing)]
        resolved[g.choice(CROP, gone, replace=False)] = False
        self.drawn += 1
        return feat.astype(np.float32), (d < 3.0).astype(np.float32), resolved
