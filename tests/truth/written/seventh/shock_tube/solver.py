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
    """One Rusanov update; built per time step size and kept."""

    def __init__(self, dx, substeps=10):
        self.dx, self.substeps = dx, substeps
        self._built = {}

    def at(self, dt):
        if dt not in self._built:
            self._built[dt] = self._build(dt)
        return self._built[dt]

    def _build(self, dt):
        ratio = dt / self.dx

        def one(U, _):
            P = jnp.pad(U, ((0, 0), (1, 1)), mode="edge")
            rho, u, p = primitive(P)
            a = jnp.abs(u) + jnp.sqrt(GAMMA * p / rho)
            amax = jnp.maximum(a[1:], a[:-1])
            F = flux(P)
            face = 0.5 * (F[:, 1:] + F[:, :-1]) - 0.5 * amax * (P[:, 1:] - P[:, :-1])
            return U - ratio * (face[:, 1:] - face[:, :-1]), None

        def advance(U):
            return jax.lax.scan(one, U, None, length=self.substeps)[0]

        return jax.jit(advance)
