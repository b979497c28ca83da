import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class ArmSpec:
    links: tuple = (0.5, 0.4, 0.3, 0.2)
    damping: float = 0.05
    spread: float = 0.6


def tip(links, q):
    a = jnp.cumsum(q, axis=-1)
    links = jnp.asarray(links)
    return jnp.stack([(links * jnp.cos(a)).sum(-1), (links * jnp.sin(a)).sum(-1)], -1)


@partial(jax.jit, static_argnames=("spec",))
def dls(q, goal, gap, near, spec):
    err = goal - tip(spec.links, q)
    jac = jax.jacfwd(lambda v: tip(spec.links, v))(q)
    fine = gap < near
    lam = jnp.where(fine, 0.1 * spec.damping, spec.damping)
    err = jnp.where(fine, err, err * jnp.minimum(1.0, 0.3 / (jnp.linalg.norm(err) + 1e-6)))
    dq = jac.T @ jnp.linalg.solve(jac @ jac.T + lam * jnp.eye(2), err)
    q = q + dq
    return q, jnp.linalg.norm(goal - tip(spec.links, q))


@partial(jax.jit, static_argnums=0)
def shake(spec, q, salt):
    key = jax.random.key(salt)
    return q + spec.spread * jax.random.normal(key, q.shape)


@jax.jit
def tool_error(trail, live, goal):
    reach = tip((0.5, 0.4, 0.3, 0.2), trail)
    return jnp.sum(live * jnp.linalg.norm(reach - goal, axis=-1)) / live.sum()
