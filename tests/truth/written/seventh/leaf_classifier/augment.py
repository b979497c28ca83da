import numpy as np


class Compose:
    def __init__(self, *ops):
        self.ops = ops

    def __call__(self, images, labels, rng):
        for op in self.ops:
            images, labels = op(images, labels, rng)
        return images, labels


class Flip:
    def __call__(self, images, labels, rng):
        which = rng.random(len(images)) < 0.5
        images = images.copy()
        images[which] = images[which, :, ::-1]
        return images, labels


class MixUp:
    def __init__(self, classes, alpha=0.4, p=0.3):
        self.classes, self.alpha, self.p = classes, alpha, p
        self.applied = 0

    def __call__(self, images, labels, rng):
        if rng.random() > self.p:
            return images, labels
        self.applied += 1
        lam = rng.beta(self.alpha, self.alpha)
        perm = rng.permutation(len(images))
        mixed = lam * images + (1 - lam) * images[perm]
        onehot = np.eye(self.classes, dtype=np.float32)[labels]
        return mixed.astype(np.float32), (lam * onehot + (1 - lam) * onehot[perm]).astype(np.float32)
