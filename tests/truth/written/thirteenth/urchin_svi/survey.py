import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def density(depth, counts):
    level = numpyro.sample("level", dist.Normal(1.0, 1.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 0.5))
    bump = numpyro.sample("bump", dist.HalfNormal(1.0))
    rate = level + slope * depth + bump * depth ** 2 * 0.1
    with numpyro.plate("quadrat", depth.shape[0]):
        numpyro.sample("count", dist.Poisson(jax.numpy.exp(rate)), obs=counts)


class Logbook:
    def __init__(self):
        self.depth = np.zeros(0, np.float32)
        self.counts = np.zeros(0, np.int32)
        self.seasons = 0

    def add(self, depth, counts):
        self.depth = np.concatenate([self.depth, depth])
        self.counts = np.concatenate([self.counts, counts])
        self.seasons += 1

    def read(self):
        return self.depth, self.counts


class Season:
    def __init__(self, steps=80):
        self.steps = steps

    def fit(self, logbook, seed):
        data = logbook.read()
        svi = SVI(density, AutoNormal(density), numpyro.optim.Adam(0.2), Trace_ELBO())
        advance = jax.jit(svi.update)
        state = svi.init(jax.random.key(seed), *data)
        for _ in range(self.steps):
            state, loss = advance(state, *data)
        return float(loss), svi.get_params(state)


def best_of(season, logbook, seeds):
    tries = [season.fit(logbook, s) for s in seeds]
    return min(tries, key=lambda t: t[0])
