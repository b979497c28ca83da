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


GUIDE = AutoNormal(admissions, init_scale=0.05)
ENGINE = SVI(admissions, GUIDE, numpyro.optim.Adam(0.03), Trace_ELBO())
advance = jax.jit(ENGINE.update)
MAX_AHEAD = 7


def refit(weekday, counts, *, seed=0, sweeps=300):
    state = ENGINE.init(jax.random.PRNGKey(seed), weekday, counts)
    losses = []
    for _ in range(sweeps):
        state, loss = advance(state, weekday, counts)
        losses.append(loss)
    return Posterior(GUIDE, ENGINE.get_params(state), np.asarray(losses))


@jax.jit
def project(median, today):
    ahead = jnp.arange(1, MAX_AHEAD + 1)
    wd = (today + ahead) % 7
    return jnp.exp(median["level"] + median["growth"] * ahead / 28 + median["effect"][wd])
