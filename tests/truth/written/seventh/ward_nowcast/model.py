import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist


def admissions(weekday, counts=None):
    """Log-linear growth with weekday effects and Poisson counts."""
    n = weekday.shape[0]
    level = numpyro.sample("level", dist.Normal(3.0, 1.0))
    growth = numpyro.sample("growth", dist.Normal(0.0, 0.5))
    with numpyro.plate("days_of_week", 7):
        effect = numpyro.sample("effect", dist.Normal(0.0, 0.2))
    t = (jnp.arange(n) - n) / n
    rate = jnp.exp(level + growth * t + effect[weekday])
    with numpyro.plate("days", n):
        numpyro.sample("obs", dist.Poisson(rate), obs=counts)
