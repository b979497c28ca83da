import numpy as np

NEAR, FAR, SAMPLES = 0.5, 2.5, 12


def rays(side):
    u = np.linspace(-0.6, 0.6, side, dtype=np.float32)
    gx, gy = np.meshgrid(u, u)
    d = np.stack([gx, gy, np.ones_like(gx)], -1).reshape(-1, 3)
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    o = np.tile(np.array([0, 0, -1.5], np.float32), (len(d), 1))
    return o, d


def ground_truth(o, d):
    b = (o * d).sum(1)
    disc = b**2 - ((o**2).sum(1) - 0.25)
    hit = disc > 0
    p = o + (-b - np.sqrt(np.maximum(disc, 0)))[:, None] * d
    return np.where(hit[:, None], 0.5 + p, 1.0).astype(np.float32)


def along(o, d):
    t = np.linspace(NEAR, FAR, SAMPLES, dtype=np.float32)
    return o[:, None] + d[:, None] * t[None, :, None]


class OccupancyGrid:
    def __init__(self, res=10, bound=1.2):
        self.res, self.bound = res, bound
        self.live = np.ones((res,) * 3, bool)

    def cells(self):
        g = (np.arange(self.res) + 0.5) / self.res * 2 * self.bound - self.bound
        return np.stack(np.meshgrid(g, g, g, indexing="ij"), -1).reshape(-1, 3).astype(np.float32)

    def refresh(self, sigma, quantile=0.35):
        sigma = np.asarray(sigma).reshape(self.live.shape)
        self.live = sigma > np.quantile(sigma, quantile)

    def lookup(self, pts):
        i = np.clip(((pts + self.bound) / (2 * self.bound) * self.res).astype(int), 0, self.res - 1)
        return self.live[i[..., 0], i[..., 1], i[..., 2]]
