import jax
import jax.numpy as jnp

GAMMA = 1.4


def primitive(U):
    rho, mom, ene = U
    u = mom / rho
    p = (GAMMA - 1) * (ene - 0.5 * rho * u ** 2)
    return rho, u, p


def flux(U):
    rho, u, p = primitive(U)
    return jnp.stack([rho * u, rho * u ** 2 + p, u * (U[2] + p)])


@jax.jit
def wave_speed(U):
    rho, u, p = primitive(U)
    return jnp.max(jnp.abs(u) + jnp.sqrt(GAMMA * p / rho))


class Stepper:
    """One Rusanov update."""

    def __init__(self, dx, substeps=10):
        self.dx, self.substeps = dx, substeps

        def one(ratio, U):
            P = jnp.pad(U, ((0, 0), (1, 1)), mode="edge")
            rho, u, p = primitive(P)
            a = jnp.abs(u) + jnp.sqrt(GAMMA * p / rho)
            amax = jnp.maximum(a[1:], a[:-1])
            F = flux(P)
            face = 0.5 * (F[:, 1:] + F[:, :-1]) - 0.5 * amax * (P[:, 1:] - P[:, :-1])
            return U - ratio * (face[:, 1:] - face[:, :-1])

        def advance(U, ratio):
            return jax.lax.fori_loop(0, substeps, lambda _, V: one(ratio, V), U)

        self._advance = jax.jit(advance)

    def at(self, dt):
        return lambda U: self._advance(U, jnp.float32(dt / self.dx))
