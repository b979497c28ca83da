from contextlib import contextmanager
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

from model import admissions


class Posterior:
    def __init__(self, guide, params, losses):
        self.guide, self.params, self.losses = guide, params, losses

    @property
    def median(self):
        return self.guide.median(self.params)


@contextmanager
def inference(seed):
    guide = AutoNormal(admissions, init_scale=0.05)
    svi = SVI(admissions, guide, numpyro.optim.Adam(0.03), Trace_ELBO())
    yield svi, guide, jax.random.PRNGKey(seed)


def refit(weekday, counts, *, seed=0, sweeps=300):
    with inference(seed) as (svi, guide, key):
        state = svi.init(key, weekday, counts)
        advance = jax.jit(svi.update)
        losses = []
        for _ in range(sweeps):
            state, loss = advance(state, weekday, counts)
            losses.append(loss)
        return Posterior(guide, svi.get_params(state), np.asarray(losses))


@partial(jax.jit, static_argnames=("days",))
def project(median, today, days):
    ahead = jnp.arange(1, days + 1)
    wd = (today + ahead) % 7
    return jnp.exp(median["level"] + median["growth"] * ahead / 28 + median["effect"][wd])
