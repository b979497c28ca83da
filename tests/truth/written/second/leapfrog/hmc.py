"""A tiny sampler, after Neal (2011)."""
import functools
import math

import jax
import jax.numpy as jnp


def logp(q):
    return -0.5 * jnp.sum(q ** 2) - 0.1 * jnp.sum(jnp.cos(3 * q))


grad = jax.grad(logp)


@functools.lru_cache(maxsize=None)
def kernel(eps):
    @functools.partial(jax.jit, static_argnames="L")
    def transition(q, key, *, L):
        k1, k2 = jax.random.split(key)
        p = jax.random.normal(k1, q.shape)
        h0 = logp(q) - 0.5 * jnp.sum(p ** 2)
        z = q
        for _ in range(L):
            p = p + 0.5 * eps * grad(z)
            z = z + eps * p
            p = p + 0.5 * eps * grad(z)
        h1 = logp(z) - 0.5 * jnp.sum(p ** 2)
        ok = jnp.log(jax.random.uniform(k2)) < h1 - h0
        return jnp.where(ok, z, q), ok
    return transition


class Adaptation:
    """Dual averaging, roughly."""

    def __init__(self, eps, trajectory):
        self.eps, self.trajectory = eps, trajectory
        self.n = self.accepted = 0

    def update(self, ok):
        self.n += 1
        self.accepted += bool(ok)
        if self.n == 12:
            self.eps = self.eps * 2 if self.accepted > 6 else self.eps / 2
        return self

    @property
    def L(self):
        return max(1, math.ceil(self.trajectory / 0.2)) if self.n < 20 else 8


def main():
    q, key = jnp.ones(3), jax.random.key(1)
    a = Adaptation(0.2, 1.0)
    for i in range(30):
        key, k = jax.random.split(key)
        step = kernel(a.eps)
        q, ok = step(q, k, L=a.L)
        a.update(ok)


main()
