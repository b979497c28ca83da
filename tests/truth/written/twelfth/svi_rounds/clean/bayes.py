import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def line(x, y=None, live=None):
    w = numpyro.sample("w", dist.Normal(0.0, 2.0).expand([3]).to_event(1))
    s = numpyro.sample("s", dist.HalfNormal(1.0))
    mean = w[0] + w[1] * x + w[2] * jnp.sin(x)
    with numpyro.handlers.mask(mask=True if live is None else live):
        numpyro.sample("y", dist.Normal(mean, s), obs=y)


class Posterior:
    def __init__(self, seed=0, samples=24):
        self.guide = AutoNormal(line)
        self.svi = SVI(line, self.guide, numpyro.optim.Adam(0.05), Trace_ELBO())
        self.key = jax.random.PRNGKey(seed)
        self.samples = samples
        self._update = jax.jit(self.svi.update)

        def spread(key, params, xs):
            predictive = Predictive(line, guide=self.guide, params=params, num_samples=self.samples)
            return predictive(key, xs)["y"].std(0)

        self._spread = jax.jit(spread)
        self.state = None

    def fit(self, campaign, iters):
        state = self.state
        if state is None:
            state = self.svi.init(self.key, *campaign.padded())
        for _ in range(iters):
            state, loss = self._update(state, *campaign.padded())
        self.state = state
        return float(loss)

    def uncertainty(self, grid):
        self.key, sub = jax.random.split(self.key)
        return self._spread(sub, self.svi.get_params(self.state), grid)
