"""A clustering model that lives beside the trap; side_cluster(N) takes N steps."""

import jax
import jax.numpy as jnp
import numpy as np


def distances(centres, points):
    return jnp.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=-1)


@jax.jit
def cluster_step(centres, points):
    nearest = jax.nn.one_hot(jnp.argmin(distances(centres, points), axis=1), centres.shape[0])
    mass = jnp.sum(nearest, axis=0)[:, None]
    return jnp.where(mass > 0, nearest.T @ points / jnp.maximum(mass, 1.0), centres)


CLUSTER = []


def side_cluster(steps):
    if not CLUSTER:
        rng = np.random.default_rng(102)
        CLUSTER.append((rng, rng.normal(size=(5, 3)).astype(np.float32)))
    rng, centres = CLUSTER.pop()
    for _ in range(steps):
        centres = cluster_step(centres, rng.normal(size=(21, 3)).astype(np.float32))
    CLUSTER.append((rng, centres))
