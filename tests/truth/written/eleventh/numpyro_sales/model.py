import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist


def sales(x, y, campaign=None):
    coef = numpyro.sample("coef", dist.Normal(jnp.zeros(3), 2.0).to_event(1))
    lift = numpyro.sample("lift", dist.Normal(0.0, 1.0))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    mu = x @ coef
    if campaign is not None:
        mu = mu + lift * campaign
    with numpyro.plate("day", x.shape[0]):
        numpyro.sample("obs", dist.Normal(mu, sigma), obs=y)
