import jax
import jax.numpy as jnp
import numpy as np

from guidance import denoise

SIDE = 16
ROWS = 4
REGISTRY = {}


def sampler(name):
    def deco(fn):
        REGISTRY[name] = fn
        return fn
    return deco


@jax.jit
def polish(x, sweeps):
    blur = lambda _, x: 0.5 * x + 0.25 * (jnp.roll(x, 1, -1) + jnp.roll(x, -1, -1))
    return jax.lax.fori_loop(0, sweeps, blur, x)


@jax.jit
def ddim_move(x, eps, a, b):
    clean = (x - jnp.sqrt(1 - a) * eps) / jnp.sqrt(a)
    return jnp.sqrt(b) * clean + jnp.sqrt(1 - b) * eps


def signal(t):
    return np.float32(np.cos(0.5 * np.pi * 0.98 * t) ** 2)


@sampler("ddim")
def ddim(net, w, job, rng):
    x = np.zeros((ROWS, SIDE), np.float32)
    x[:job["n"]] = rng.normal(size=(job["n"], SIDE))
    times = np.linspace(1.0, 0.0, job["steps"] + 1, dtype=np.float32)
    label = np.int32(job["label"])
    for t, u in zip(times[:-1], times[1:]):
        eps = denoise(net, w, x, t, label, job["guidance"])
        x = ddim_move(x, eps, signal(t), signal(u))
    return x


@sampler("ddim+polish")
def ddim_polish(net, w, job, rng):
    x = ddim(net, w, job, rng)
    return polish(x, sweeps=job["steps"] // 2)
