from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class VPSDE:
    beta_min: float = 0.1
    beta_max: float = 12.0
    n_steps: int = 20

    def log_alpha(self, t):
        return -0.25 * t**2 * (self.beta_max - self.beta_min) - 0.5 * t * self.beta_min

    def marginal(self, t):
        la = self.log_alpha(t)
        return jnp.exp(la), jnp.sqrt(1.0 - jnp.exp(2.0 * la))

    def beta(self, t):
        return self.beta_min + t * (self.beta_max - self.beta_min)


def make_sampler(sde, apply_fn):
    ts = jnp.linspace(1.0, 1e-2, sde.n_steps)
    dt = 1.0 / sde.n_steps

    @jax.jit
    def pc_sampler(params, x, key):
        def body(carry, t):
            x, key = carry
            key, sub = jax.random.split(key)
            b = sde.beta(t)
            score = apply_fn({"params": params}, x, jnp.full((x.shape[0],), t))
            x = x + (0.5 * b * x + b * score) * dt + jnp.sqrt(b * dt) * jax.random.normal(sub, x.shape)
            return (x, key), None

        (x, _), _ = jax.lax.scan(body, (x, key), ts)
        return x

    return pc_sampler
