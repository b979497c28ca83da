"""Metropolis-Docking starrer Liganden mit anschliessender Gradienten-Verfeinerung."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from abkuehlung import Kuehlplan
from molekuele import baue_tasche, bibliothek


def drehe(lage, xyz):
    a, b, c = lage[3], lage[4], lage[5]
    rz = jnp.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    rz = rz.at[0, 0].set(jnp.cos(a)).at[1, 1].set(jnp.cos(a)).at[0, 1].set(-jnp.sin(a)).at[1, 0].set(jnp.sin(a))
    gekippt = xyz @ rz.T + b * jnp.roll(xyz, 1, axis=1) * 0.1 + c * jnp.roll(xyz, 2, axis=1) * 0.1
    return gekippt + lage[:3]


def energie(lage, ligand, tasche):
    p = drehe(lage, ligand["xyz"])
    r2 = jnp.sum((p[:, None] - tasche["xyz"][None]) ** 2, -1) + 0.5
    s = 9.0 / r2
    e = jnp.sum((s**6 - 2 * s**3) * ligand["maske"][:, None]) * 1e-2
    if "ladung" in ligand:
        coulomb = ligand["ladung"][:, None] * tasche["ladung"][None] / jnp.sqrt(r2)
        e = e + jnp.sum(coulomb)
    return e


@partial(jax.jit, static_argnames=("temperatur", "zuege"))
def metropolis(schluessel, lage, ligand, tasche, *, temperatur, zuege):
    def zug(zustand, k):
        lage, e = zustand
        k1, k2 = jax.random.split(k)
        neu = lage + 0.3 * jax.random.normal(k1, lage.shape)
        e_neu = energie(neu, ligand, tasche)
        an = jnp.log(jax.random.uniform(k2)) < (e - e_neu) / temperatur
        return (jnp.where(an, neu, lage), jnp.where(an, e_neu, e)), an

    start = (lage, energie(lage, ligand, tasche))
    (lage, e), angenommen = jax.lax.scan(zug, start, jax.random.split(schluessel, zuege))
    return lage, e, angenommen.mean()


@jax.jit
def verfeinere(lage, ligand, tasche, schritt):
    e, g = jax.value_and_grad(energie)(lage, ligand, tasche)
    g = g / (1.0 + jnp.linalg.norm(g))
    return lage - schritt * g, e


def docke(schluessel, ligand, tasche, plan):
    lage = np.zeros(6, np.float32)
    for stufe, temperatur in plan:
        k = jax.random.fold_in(schluessel, stufe)
        lage, e, quote = metropolis(k, lage, ligand, tasche,
                                    temperatur=temperatur, zuege=plan.zuege_je_stufe)
    for i in range(10):
        lage, e = verfeinere(lage, ligand, tasche, 0.05 / (1 + i))
    return e, quote


def haupt():
    tasche = baue_tasche(np.random.default_rng(5))
    plan = Kuehlplan()
    wurzel = jax.random.PRNGKey(2)
    rangliste = []
    for i, (kennung, ligand) in enumerate(bibliothek(6, saat=9)):
        e, quote = docke(jax.random.fold_in(wurzel, i), ligand, tasche, plan)
        rangliste.append((float(e), kennung, float(quote)))
    for e, kennung, quote in sorted(rangliste):
        print(f"{kennung}  E={e:9.3f}  Annahme={quote:.2f}")


if __name__ == "__main__":
    haupt()
