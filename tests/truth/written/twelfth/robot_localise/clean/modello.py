import functools

import jax
import jax.numpy as jnp
import numpy as np

FARI = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 6.0]], np.float32)


@jax.jit
def move(pose, comando, rumore):
    passo, giro = comando
    angolo = pose[:, 2] + giro + 0.05 * rumore[:, 1]
    avanti = passo * (1 + 0.1 * rumore[:, 0])
    return jnp.stack([pose[:, 0] + avanti * jnp.cos(angolo), pose[:, 1] + avanti * jnp.sin(angolo), angolo], 1)


@jax.jit
def weigh(pose, lettura, robusto):
    d = jnp.linalg.norm(pose[:, None, :2] - FARI[None], axis=-1)
    err = ((d - lettura) / 0.6) ** 2
    err = jnp.where(robusto, err / (1.0 + err), err)
    v = jnp.exp(-0.5 * err.sum(-1))
    return v / (v.sum() + 1e-12), v.mean()


@jax.jit
def distanza(a, b):
    return jnp.linalg.norm(a - b)
