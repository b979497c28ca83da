from functools import partial, reduce

import jax
import jax.numpy as jnp
import numpy as np
import optax

from noche import observar

R = 4
MAXIMO = 24
CAJA = 8
rejilla = jnp.arange(-R, R + 1.0)
tx = optax.adam(0.05)


def encadenar(*fs):
    return lambda x: reduce(lambda acc, f: f(acc), fs, x)


@partial(jax.jit, static_argnames="caja")
def fondo(img, caja):
    n = img.shape[0] // caja
    bloques = img.reshape(n, caja, n, caja).transpose(0, 2, 1, 3).reshape(n, n, -1)
    med = jnp.median(bloques, axis=-1)
    return jnp.repeat(jnp.repeat(med, caja, 0), caja, 1)


@jax.jit
def picos(img):
    vec = jnp.stack([jnp.roll(img, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)])
    margen = jnp.zeros(img.shape, bool).at[R:-R, R:-R].set(True)
    return (img > vec.max(0)) & (img > 14.0) & margen


@jax.jit
def cuantos(mapa):
    return mapa.sum()


@jax.jit
def localizar(mapa):
    return jnp.stack(jnp.nonzero(mapa, size=MAXIMO, fill_value=R), -1)


def modelo(p, s2):
    g = jnp.exp(-((rejilla[:, None] - p[1]) ** 2 + (rejilla[None] - p[2]) ** 2) / (2 * s2))
    return jnp.exp(p[0]) * g


@jax.jit
def ajustar(img, xy, s2):
    def sello(c):
        return jax.lax.dynamic_slice(img, c - R, (2 * R + 1, 2 * R + 1))

    sellos = jax.vmap(sello)(xy)

    def uno(s):
        def paso(carga, _):
            p, st = carga
            g = jax.grad(lambda q: jnp.mean((modelo(q, s2) - s) ** 2) / 100)(p)
            u, st = tx.update(g, st)
            return (optax.apply_updates(p, u), st), None

        p0 = jnp.array([jnp.log(s.max() + 1.0), 0.0, 0.0])
        (p, _), _ = jax.lax.scan(paso, (p0, tx.init(p0)), None, length=30)
        return p

    return jax.vmap(uno)(sellos)


def restar(exp):
    plano = fondo(exp.cuentas, caja=CAJA)
    return exp._replace(cuentas=exp.cuentas - np.asarray(plano))


def detectar(exp):
    mapa = picos(exp.cuentas)
    return exp, localizar(mapa), cuantos(mapa)


def medir(par):
    exp, xy, n = par
    s2 = np.float32((exp.cabecera.fwhm / 2.355) ** 2)
    return exp.cabecera, np.asarray(ajustar(exp.cuentas, xy, s2))[: int(n)], s2


def catalogar(t):
    cab, p, s2 = t
    flujo = 2 * np.pi * s2 * np.exp(p[:, 0])
    return cab.numero, cab.filtro, float(np.median(flujo)), float(np.hypot(p[:, 1], p[:, 2]).max())


if __name__ == "__main__":
    cadena = encadenar(restar, detectar, medir, catalogar)
    for numero, filtro, flujo, corr in map(cadena, observar()):
        print(f"{numero:3d} {filtro} mediana {flujo:7.1f} desplazamiento {corr:.2f}")
