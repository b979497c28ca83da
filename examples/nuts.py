"""A NUTS run of numpyro: eight schools, and then predictions from the posterior.

numpyro jits the sampler, and prepares it with many single operations outside any jitted function.

    pip install numpyro
    stet run --cpu -- python examples/nuts.py
"""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, Predictive

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def schools(errors, effects=None):
    mean = numpyro.sample("mean", dist.Normal(0, 5))
    spread = numpyro.sample("spread", dist.HalfCauchy(5))
    with numpyro.plate("school", len(errors)):
        shift = numpyro.sample("shift", dist.Normal(0, 1))
        numpyro.sample("effect", dist.Normal(mean + spread * shift, errors), obs=effects)


def main():
    sampler = MCMC(NUTS(schools), num_warmup=100, num_samples=100, progress_bar=False)
    sampler.run(jax.random.key(0), ERRORS, effects=EFFECTS)
    posterior = sampler.get_samples()
    predicted = Predictive(schools, posterior)(jax.random.key(1), ERRORS)["effect"]
    print(f"mean {jnp.mean(posterior['mean']):.2f}, predicted {jnp.mean(predicted):.2f}")


if __name__ == "__main__":
    main()
