"""Host-side augmentation pipeline. Each op is registered by name and driven by the config."""
import numpy as np

OPS = {}


def register(fn):
    OPS[fn.__name__] = fn
    return fn


@register
def flip(rng, img, lab):
    m = rng.uniform(size=len(img)) < 0.5
    img = np.where(m[:, None, None, None], img[:, :, ::-1], img)
    return img, lab


@register
def shift(rng, img, lab):
    dx, dy = rng.integers(-1, 2, 2)
    return np.roll(img, (int(dx), int(dy)), (1, 2)), lab


@register
def mixup(rng, img, lab, alpha=0.3, classes=10):
    lam = np.float32(rng.beta(alpha, alpha))
    perm = rng.permutation(len(img))
    hot = np.eye(classes, dtype=np.float32)[lab]
    return lam * img + (1 - lam) * img[perm], lam * hot + (1 - lam) * hot[perm]


def build(names):
    def apply(rng, img, lab):
        for n in names:
            img, lab = OPS[n](rng, img, lab)
        return img.astype(np.float32), lab
    return apply
