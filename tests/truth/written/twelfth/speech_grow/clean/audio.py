import numpy as np


class Clips:
    def __init__(self, batch, frames=20, bins=6, seed=3):
        self.rng = np.random.default_rng(seed)
        self.batch, self.frames, self.bins = batch, frames, bins

    def take(self):
        y = self.rng.integers(0, 4, self.batch).astype(np.int32)
        x = self.rng.normal(size=(self.batch, self.frames, self.bins))
        x[np.arange(self.batch), :, y] += 0.8
        return x.astype(np.float32), y


class Wrapper:
    def __init__(self, inner):
        self.inner = inner

    def take(self):
        return self.inner.take()


class Gain(Wrapper):
    def take(self):
        x, y = self.inner.take()
        return x * np.float32(1.1), y


class Stretch(Wrapper):
    def __init__(self, inner, p, seed=252):
        super().__init__(inner)
        self.p = p
        self.rng = np.random.default_rng(seed)

    def take(self):
        clip, y = self.inner.take()
        if self.rng.uniform() < self.p:
            clip = np.repeat(clip[:, ::2], 2, axis=1)[:, :clip.shape[1]]
        return clip, y
