import jax
import jax.numpy as jnp
import numpy as np


def systematic(key, w):
    n = w.shape[0]
    u = (jnp.arange(n) + jax.random.uniform(key)) / n
    return jnp.searchsorted(jnp.cumsum(w), u)


@jax.jit
def filter_step(key, cloud, logw, control, readings, refresh):
    k1, k2 = jax.random.split(key)
    rows = jnp.clip(systematic(k2, jax.nn.softmax(logw)), 0, cloud.shape[0] - 1)
    cloud = jnp.where(refresh, cloud[rows], cloud)
    logw = jnp.where(refresh, 0.0, logw)
    cloud = cloud + control + 0.08 * jax.random.normal(k1, cloud.shape)
    spots, dist, live = readings
    gap = jnp.linalg.norm(cloud[:, None] - spots, axis=2) - dist
    logw = logw - 0.5 * ((gap / 0.3) ** 2 @ live)
    logw = logw - jax.nn.logsumexp(logw)
    w = jnp.exp(logw)
    return cloud, logw, w @ cloud, 1.0 / jnp.sum(w**2)


class Localizer:
    def __init__(self, particles, seed=0):
        self.key = jax.random.key(seed)
        self.cloud = np.random.default_rng(seed).uniform(0, 10, (particles, 2)).astype(np.float32)
        self.logw = np.full(particles, -np.log(particles), np.float32)
        self.ess = float(particles)
        self.limit = particles / 3
        self.refreshed = 0

    def __call__(self, control, readings):
        stale = self.ess < self.limit
        self.refreshed += int(stale)
        self.key, sub = jax.random.split(self.key)
        self.cloud, self.logw, mean, ess = filter_step(
            sub, self.cloud, self.logw, control, readings, stale
        )
        self.ess = float(ess)
        return np.asarray(mean)
