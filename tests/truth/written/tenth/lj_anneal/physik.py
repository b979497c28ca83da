from typing import NamedTuple

import jax
import jax.numpy as jnp


class Zustand(NamedTuple):
    ort: jax.Array
    impuls: jax.Array
    kraft: jax.Array
    key: jax.Array


def energie(ort, idx, kasten):
    n = ort.shape[0]
    voll = jnp.concatenate([ort, jnp.full((1, ort.shape[1]), 1e4)])
    d = ort[:, None] - voll[idx]
    d = d - kasten * jnp.round(d / kasten)
    r2 = jnp.where(idx < n, jnp.square(d).sum(-1), 1e6)
    s6 = (1.0 / jnp.maximum(r2, 0.6)) ** 3
    return 2.0 * (s6**2 - s6).sum()


def langevin(kasten, dt, kT, gamma=0.5):
    """Returns (start, schritt) for a BAOAB-like thermostat."""
    reibung = jnp.exp(-gamma * dt)
    rauschen = jnp.sqrt(kT * (1 - reibung**2))

    def schritt(z, idx):
        p = z.impuls + 0.5 * dt * z.kraft
        ort = jnp.mod(z.ort + 0.5 * dt * p, kasten)
        key, sub = jax.random.split(z.key)
        p = reibung * p + rauschen * jax.random.normal(sub, p.shape)
        ort = jnp.mod(ort + 0.5 * dt * p, kasten)
        e, g = jax.value_and_grad(energie)(ort, idx, kasten)
        p = p - 0.5 * dt * g
        return Zustand(ort, p, -g, key), e

    def start(ort, key):
        k1, k2 = jax.random.split(key)
        return Zustand(ort, jax.random.normal(k1, ort.shape) * jnp.sqrt(kT), jnp.zeros_like(ort), k2)

    return start, jax.jit(schritt)


@jax.jit
def paarverteilung(bahn, kasten):
    d = bahn[:, :, None] - bahn[:, None]
    d = d - kasten * jnp.round(d / kasten)
    r = jnp.sqrt(jnp.square(d).sum(-1) + 1e-9)
    kanten = jnp.linspace(0.5, 2.5, 9)
    treffer = (r[..., None] >= kanten[:-1]) & (r[..., None] < kanten[1:])
    return treffer.sum((0, 1, 2)) / (bahn.shape[0] * bahn.shape[1])
