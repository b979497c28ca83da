import numpy as np


def blobs(n=330, classes=10, seed=0):
    """10 colour-blob classes at 8x8."""
    g = np.random.default_rng(seed)
    y = g.integers(0, classes, n).astype(np.int32)
    proto = np.random.default_rng(99).normal(size=(classes, 8, 8, 3))
    x = proto[y] + 0.8 * g.normal(size=(n, 8, 8, 3))
    return x.astype(np.float32), y


class Loader:
    def __init__(self, x, y, batch_size, rng, transform=None):
        self.x, self.y = x, y
        self.bs = batch_size
        self.rng = rng
        self.transform = transform

    def __len__(self):
        return -(-len(self.x) // self.bs)

    def __iter__(self):
        order = self.rng.permutation(len(self.x))
        for b in range(len(self)):
            ix = order[b * self.bs:(b + 1) * self.bs]
            img, lab = self.x[ix], self.y[ix]
            if self.transform is not None:
                img, lab = self.transform(self.rng, img, lab)
            yield {"image": img, "label": lab}
