import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro import handlers

N_COUNTY = 8


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    county = rng.integers(0, N_COUNTY, n).astype(np.int32)
    floor = rng.integers(0, 2, n).astype(np.float32)
    a = rng.normal(1.3, 0.4, N_COUNTY)
    y = a[county] - 0.7 * floor + rng.normal(0, 0.3, n)
    return county, floor, y.astype(np.float32)


def hierarchical(county, floor, log_radon=None, total=None, temper=1.0):
    mu_a = numpyro.sample("mu_a", dist.Normal(0.0, 2.0))
    sigma_a = numpyro.sample("sigma_a", dist.HalfNormal(1.0))
    b = numpyro.sample("b", dist.Normal(0.0, 1.0))
    with numpyro.plate("county", N_COUNTY):
        z = numpyro.sample("z", dist.Normal(0.0, 1.0))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0))
    mean = (mu_a + sigma_a * z)[county] + b * floor
    size = county.shape[0]
    ratio = (total or size) / size
    with numpyro.plate("obs", size), handlers.scale(scale=ratio * temper):
        numpyro.sample("y", dist.Normal(mean, sigma), obs=log_radon)


def rmse(samples, y):
    return float(jnp.sqrt(jnp.mean(jnp.square(samples.mean(0) - y))))
