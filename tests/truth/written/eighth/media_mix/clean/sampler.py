import math

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer.util import log_density


def mix_model(spend, season, sales, promo):
    base = numpyro.sample("base", dist.Normal(0.0, 2.0))
    lift = numpyro.sample("lift", dist.Normal(0.5, 0.5).expand([spend.shape[1]]).to_event(1))
    wave = numpyro.sample("wave", dist.Normal(0.0, 1.0))
    mu = base + jnp.log1p(spend) @ lift + wave * season + 0.5 * promo
    numpyro.sample("obs", dist.Normal(mu, 0.25).to_event(1), obs=sales)


def energy(q, frame):
    return -log_density(mix_model, (), frame, q)[0]


@jax.jit
def propose(q, key, frame, eps, hops):
    k_mom, k_acc = jax.random.split(key)
    flat, unravel = jax.flatten_util.ravel_pytree(q)
    force = jax.grad(lambda z: energy(unravel(z), frame))
    p0 = jax.random.normal(k_mom, flat.shape)

    def hop(_, zp):
        z = zp[0] + eps * zp[1]
        return z, zp[1] - eps * force(z)

    z, p = jax.lax.fori_loop(0, hops, hop, (flat, p0 - 0.5 * eps * force(flat)))
    p = p + 0.5 * eps * force(z)
    before = energy(q, frame) + 0.5 * jnp.sum(p0 ** 2)
    after = energy(unravel(z), frame) + 0.5 * jnp.sum(p ** 2)
    accept = jnp.exp(jnp.minimum(0.0, before - after))
    keep = jax.random.uniform(k_acc) < accept
    return unravel(jnp.where(keep, z, flat)), accept


class StepTuner:
    def __init__(self, eps, length, target=0.8):
        self.log_eps = math.log(eps)
        self.length = length
        self.target = target
        self.n = 0

    def __iter__(self):
        return iter((math.exp(self.log_eps), self.path))

    @property
    def path(self):
        return max(3, min(12, math.ceil(self.length / math.exp(self.log_eps))))

    def tell(self, accept):
        self.n += 1
        self.log_eps += (float(accept) - self.target) / (2.0 + self.n) ** 0.6
