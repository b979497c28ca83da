import jax
import jax.numpy as jnp
from flax import nnx


class RunningNorm(nnx.Module):
    def __init__(self, dim, momentum=0.9):
        self.mean = nnx.BatchStat(jnp.zeros(dim))
        self.var = nnx.BatchStat(jnp.ones(dim))
        self.momentum = momentum
        self.frozen = False

    def __call__(self, x):
        if self.frozen:
            mu, var = self.mean[...], self.var[...]
        else:
            mu, var = x.mean(0), x.var(0)
            m = self.momentum
            self.mean[...] = m * self.mean[...] + (1 - m) * mu
            self.var[...] = m * self.var[...] + (1 - m) * var
        return (x - mu) * jax.lax.rsqrt(var + 1e-4)


class Denoiser(nnx.Module):
    def __init__(self, size, hidden, *, rngs):
        self.enc = nnx.Linear(size, hidden, rngs=rngs)
        self.norm = RunningNorm(hidden)
        self.dec = nnx.Linear(hidden, size, rngs=rngs)
        self.spikes = 0

    def __call__(self, x):
        return self.dec(nnx.relu(self.norm(self.enc(x))))
