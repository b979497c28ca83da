import jax
import jax.numpy as jnp
from flax import nnx


class RunningNorm(nnx.Module):
    def __init__(self, dim, momentum=0.9):
        self.mean = nnx.BatchStat(jnp.zeros(dim))
        self.var = nnx.BatchStat(jnp.ones(dim))
        self.momentum = momentum
        self.frozen = nnx.Variable(jnp.array(False))

    def __call__(self, x):
        hold = self.frozen[...]
        mu = jnp.where(hold, self.mean[...], x.mean(0))
        var = jnp.where(hold, self.var[...], x.var(0))
        m = jnp.where(hold, 1.0, self.momentum)
        self.mean[...] = m * self.mean[...] + (1 - m) * mu
        self.var[...] = m * self.var[...] + (1 - m) * var
        return (x - mu) * jax.lax.rsqrt(var + 1e-4)


class Denoiser(nnx.Module):
    def __init__(self, size, hidden, *, rngs):
        self.enc = nnx.Linear(size, hidden, rngs=rngs)
        self.norm = RunningNorm(hidden)
        self.dec = nnx.Linear(hidden, size, rngs=rngs)
        self.spikes = nnx.Variable(jnp.int32(0))

    def __call__(self, x):
        return self.dec(nnx.relu(self.norm(self.enc(x))))
