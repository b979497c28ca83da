import jax
import jax.numpy as jnp

dt = 0.5
F = jnp.array([[1, 0, dt, 0], [0, 1, 0, dt], [0, 0, 1, 0], [0, 0, 0, 1]], jnp.float32)
H = jnp.eye(2, 4)
Q = jnp.diag(jnp.array([0.02, 0.02, 0.1, 0.1]))
R = 0.05 * jnp.eye(2)


def _one(m, P, z, seen):
    m, P = F @ m, F @ P @ F.T + Q
    S = H @ P @ H.T + R
    K = jnp.linalg.solve(S, H @ P).T
    innov = z - H @ m
    return (jnp.where(seen, m + K @ innov, m),
            jnp.where(seen, P - K @ S @ K.T, P),
            innov)


@jax.jit
def advance(means, covs, zs, seen):
    return jax.vmap(_one)(means, covs, zs, seen)


@jax.jit
def recalibrate(bias, spread, offsets):
    centre = offsets if offsets.ndim == 1 else offsets.mean(0)
    bias = 0.9 * bias + 0.1 * centre
    return bias, 0.9 * spread + 0.1 * jnp.abs(centre - bias)
