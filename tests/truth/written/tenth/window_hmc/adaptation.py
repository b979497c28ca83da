import math

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def window_cov(draws):
    c = draws - draws.mean(0)
    cov = c.T @ c / (draws.shape[0] - 1)
    n = draws.shape[0]
    return n / (n + 5.0) * cov + 1e-3 * 5.0 / (n + 5.0) * jnp.eye(draws.shape[1])


class DualAveraging:
    def __init__(self, initial, target=0.8):
        self.mu, self.target = math.log(2 * initial), target
        self.log_eps, self.h, self.t = math.log(initial), 0.0, 0

    def update(self, acceptance):
        self.t += 1
        eta = 1.0 / (self.t + 10)
        self.h = (1 - eta) * self.h + eta * (self.target - float(acceptance))
        self.log_eps = self.mu - math.sqrt(self.t) / 0.5 * self.h

    @property
    def step_size(self):
        return min(max(math.exp(self.log_eps), 0.05), 1.0)


class WindowSchedule:
    """(first step, last step, kind) in the manner of Stan's warm-up."""

    def __init__(self, sizes=(10, 15, 25)):
        edges = np.cumsum((0,) + sizes)
        self.windows = list(zip(edges[:-1], edges[1:], ("diag",) * (len(sizes) - 1) + ("dense",)))

    def __iter__(self):
        return iter(self.windows)


class Metric:
    def __init__(self, dim):
        self.inverse = np.ones(dim, np.float32)

    def learn(self, draws, kind):
        cov = np.asarray(window_cov(np.stack(draws)))
        self.inverse = np.diag(cov).copy() if kind == "diag" else cov


def trajectory(step_size, length=1.2):
    return max(1, int(round(length / step_size)))
