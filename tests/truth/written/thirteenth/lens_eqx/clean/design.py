from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Penalty(NamedTuple):
    mu: float
    rim: float
    growth: float = 3.0
    rounds: int = 0

    def tighten(self, violation):
        if violation > 1e-4:
            return self._replace(mu=min(self.mu * self.growth, 1e3), rounds=self.rounds + 1)
        return self

    def weights(self):
        return {"mu": jnp.float32(self.mu), "rim": jnp.float32(self.rim)}


class Surface(eqx.Module):
    curv: jax.Array
    gap: jax.Array
    index: float = eqx.field(static=True)

    def __call__(self, y, u):
        y = y + self.gap * jnp.tan(u)
        bend = self.curv * (self.index - 1.0)
        return y, u - bend * y - 0.5 * bend * self.curv ** 2 * y ** 3


class Lens(eqx.Module):
    surfaces: list
    back: jax.Array

    def __init__(self, curvs, gaps, glasses):
        self.surfaces = [Surface(jnp.float32(c), jnp.float32(g), n) for c, g, n in zip(curvs, gaps, glasses)]
        self.back = jnp.float32(2.0)

    def spot(self, rays):
        y, u = rays[:, 0], rays[:, 1]
        live = jnp.ones(y.shape, bool)
        for s in self.surfaces:
            y, u = s(y, u)
            live &= jnp.abs(y) < 0.62
        return y + self.back * jnp.tan(u), live

    def rim_gap(self):
        return jnp.stack([s.gap - 0.18 * jnp.abs(s.curv) for s in self.surfaces[1:]])


tx = optax.adam(8e-3)


@eqx.filter_jit
def refine(lens, opt_state, rays, keep, terms):
    def merit(l):
        hit, live = l.spot(rays)
        live &= keep
        short = jax.nn.relu(terms["rim"] - l.rim_gap())
        return jnp.sum(jnp.where(live, hit, 0.0) ** 2) / live.sum() + terms["mu"] * jnp.sum(short ** 2), (short.sum(), live)

    grads, (violation, live) = eqx.filter_grad(merit, has_aux=True)(lens)
    up, opt_state = tx.update(grads, opt_state)
    return eqx.apply_updates(lens, up), opt_state, violation, live


@eqx.filter_jit
def rms(lens, rays):
    hit, _ = lens.spot(rays)
    return jnp.sqrt(jnp.mean(hit ** 2))
