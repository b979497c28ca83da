"""D2Q9 lattice Boltzmann, rows split over the mesh with shard_map."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from layout import MESH, P

C = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
WEIGHT = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])


def equilibrium(rho, u):
    cu = 3.0 * jnp.einsum("id,dyx->iyx", C.astype(np.float32), u)
    return WEIGHT[:, None, None] * rho * (1 + cu + 0.5 * cu**2 - 1.5 * (u**2).sum(0))


def _collide_stream(f, wall, omega):
    rho = f.sum(0)
    u = jnp.einsum("id,iyx->dyx", C.astype(np.float32), f) / rho
    g = f - omega * (f - equilibrium(rho, u))
    g = jnp.where(wall, f[OPPOSITE], g)
    n = jax.lax.axis_size("rows")
    up = jax.lax.ppermute(g[:, -1:], "rows", [(i, (i + 1) % n) for i in range(n)])
    down = jax.lax.ppermute(g[:, :1], "rows", [(i, (i - 1) % n) for i in range(n)])
    padded = jnp.concatenate([up, g, down], 1)
    moved = [jnp.roll(jnp.roll(padded[i], int(C[i, 1]), 0), int(C[i, 0]), 1) for i in range(9)]
    return jnp.stack(moved)[:, 1:-1]


def advance(f, wall, omega):
    step = jax.shard_map(
        _collide_stream, mesh=MESH,
        in_specs=(P(None, "rows", None), P("rows", None), P()), out_specs=P(None, "rows", None))
    return step(f, wall, omega)


advance_inplace = jax.jit(advance, donate_argnums=0)


@jax.jit
def diagnostics(f, wall):
    rho = f.sum(0)
    u = jnp.einsum("id,iyx->dyx", C.astype(np.float32), f) / rho
    return {"mass": rho.mean(), "speed": jnp.sqrt((u**2).sum(0) * ~wall).max()}
