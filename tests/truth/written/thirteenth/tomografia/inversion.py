from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Regularizacion:
    amort: float = 0.5
    suavidad: float = 0.02

    def relajar(self, mejora):
        if mejora > 0.02:
            return replace(self, amort=self.amort * 0.4)
        return self


@partial(jax.jit, static_argnames="reg")
def paso(modelo, rayos, tiempos, rugosidad, reg):
    restos = tiempos - rayos @ modelo
    freno = rugosidad.T @ rugosidad
    hess = rayos.T @ rayos + reg.suavidad * freno + reg.amort * jnp.eye(modelo.size)
    grad = rayos.T @ restos - reg.suavidad * (freno @ modelo)
    nuevo = modelo + jnp.linalg.solve(hess, grad)
    despues = tiempos - rayos @ nuevo
    return nuevo, jnp.sqrt(jnp.mean(despues ** 2)), despues


@jax.jit
def contraste(modelo, verdad):
    a, b = modelo - modelo.mean(), verdad - verdad.mean()
    return a @ b / jnp.sqrt((a @ a) * (b @ b))
