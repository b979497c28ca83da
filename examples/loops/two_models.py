"""A generator and a discriminator take turns; an iteration is one of each."""
import jax
import jax.numpy as jnp

from common import SIZES, Counter, adam, adam_init, apply, batches, init, steps

NOISE = 8


def scores(d, x):
    return apply(d, x)[:, 0]


def d_loss(d, g, real, key):
    fake = apply(g, jax.random.normal(key, (real.shape[0], NOISE)))
    return jnp.mean(jax.nn.softplus(-scores(d, real)) + jax.nn.softplus(scores(d, fake)))


def g_loss(g, d, key):
    fake = apply(g, jax.random.normal(key, (32, NOISE)))
    return jnp.mean(jax.nn.softplus(-scores(d, fake)))


@jax.jit
def d_step(d, d_opt, g, real, key):
    loss, grads = jax.value_and_grad(d_loss)(d, g, real, key)
    return *adam(d, grads, d_opt), loss


@jax.jit
def g_step(g, g_opt, d, key):
    loss, grads = jax.value_and_grad(g_loss)(g, d, key)
    return *adam(g, grads, g_opt), loss


key = jax.random.key(0)
key, k1, k2 = jax.random.split(key, 3)
d, g = init(k1), init(k2, (NOISE, 32, SIZES[0]))
d_opt, g_opt = adam_init(d), adam_init(g)
counter = Counter()
for real, _ in batches(steps(120)):
    counter.begin()
    key, kd, kg = jax.random.split(key, 3)
    d, d_opt, loss = d_step(d, d_opt, g, real, kd)
    g, g_opt, _ = g_step(g, g_opt, d, kg)
    counter.report(loss)
counter.done()
