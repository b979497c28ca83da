"""Reference kinetics of a stirred tank (Robertson-like but mild), integrated with RK4 on the host."""
import numpy as np

SPECIES = 3


def rhs(c):
    a, b, d = c[..., 0], c[..., 1], c[..., 2]
    return np.stack([-0.8 * a + 0.3 * b * d, 0.8 * a - 0.3 * b * d - 0.5 * b * b, 0.5 * b * b], -1)


def simulate(c0, times, inner=8):
    out, c = [c0], c0
    for dt in np.diff(times):
        h = dt / inner
        for _ in range(inner):
            k1 = rhs(c); k2 = rhs(c + h / 2 * k1); k3 = rhs(c + h / 2 * k2); k4 = rhs(c + h * k3)
            c = c + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(c)
    return np.stack(out, 1).astype(np.float32)


class Experiments:
    def __init__(self, n=40, points=25, t_end=6.0, seed=0):
        rng = np.random.default_rng(seed)
        self.times = np.linspace(0, t_end, points).astype(np.float32)
        self.curves = simulate(rng.dirichlet(np.ones(SPECIES), n), self.times)
        self.rng = rng

    def draw(self, n):
        return self.curves[self.rng.integers(0, len(self.curves), n)]
