import jax.numpy as jnp
import optax
from flax import nnx


class Whitener(nnx.Module):
    def __init__(self, bins, horizon=50):
        self.mean = nnx.Variable(jnp.zeros(bins))
        self.power = nnx.Variable(jnp.ones(bins))
        self.rounds = 0
        self.horizon = horizon

    def __call__(self, spec):
        self.rounds += 1
        gain = 1.0 / min(self.rounds, self.horizon)
        self.mean[...] = (1 - gain) * self.mean[...] + gain * spec.mean(0)
        self.power[...] = (1 - gain) * self.power[...] + gain * spec.var(0)
        return (spec - self.mean[...]) / jnp.sqrt(self.power[...] + 1e-4)


class EarBank(nnx.Module):
    def __init__(self, bins, dim, rngs):
        self.trunk = nnx.Linear(bins, dim, rngs=rngs)
        self.ears = nnx.List([])
        self.dim = dim
        self.rngs = rngs

    def grow(self):
        self.ears.append(nnx.Linear(self.dim, 1, rngs=self.rngs))

    def __call__(self, x):
        h = nnx.gelu(self.trunk(x))
        return jnp.concatenate([ear(h) for ear in self.ears], -1)


@nnx.jit
def whiten(whitener, spec):
    return whitener(spec)


@nnx.jit
def absorb(bank, opt, x, species):
    def loss(b):
        out = b(x)
        want = (jnp.arange(out.shape[-1]) == species).astype(jnp.float32)
        return optax.sigmoid_binary_cross_entropy(out, jnp.broadcast_to(want, out.shape)).mean()

    val, g = nnx.value_and_grad(loss)(bank)
    opt.update(bank, g)
    return val
