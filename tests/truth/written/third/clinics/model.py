import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax import nn

N_CLINICS = 30


def model(clinic, dose, y=None, n_total=None):
    mu = numpyro.sample("mu", dist.Normal(0.0, 2.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    tau = numpyro.sample("tau", dist.HalfNormal(1.0))
    with numpyro.plate("clinics", N_CLINICS):
        a = numpyro.sample("a", dist.Normal(0.0, 1.0))
    eta = mu + tau * a[clinic] + slope * dose
    scale = 1.0 if n_total is None else n_total / clinic.shape[0]
    with numpyro.plate("patients", clinic.shape[0]), numpyro.handlers.scale(scale=scale):
        numpyro.sample("y", dist.Bernoulli(logits=eta), obs=y)


def guide(clinic, dose, y=None, n_total=None):
    def normal(name, shape=(), s0=-2.0):
        loc = numpyro.param(f"{name}_loc", jnp.zeros(shape))
        raw = numpyro.param(f"{name}_raw", jnp.full(shape, s0))
        return dist.Normal(loc, nn.softplus(raw))

    numpyro.sample("mu", normal("mu"))
    numpyro.sample("slope", normal("slope"))
    loc = numpyro.param("tau_loc", jnp.zeros(()))
    raw = numpyro.param("tau_raw", jnp.full((), -2.0))
    numpyro.sample("tau", dist.LogNormal(loc, nn.softplus(raw)))
    with numpyro.plate("clinics", N_CLINICS):
        numpyro.sample("a", normal("a", (N_CLINICS,)))
