from typing import NamedTuple

import jax
import jax.numpy as jnp


class Regularizacion(NamedTuple):
    amort: float = 0.5
    suavidad: float = 0.02

    def relajar(self, mejora):
        if mejora > 0.02:
            return self._replace(amort=self.amort * 0.4)
        return self


@jax.jit
def paso(modelo, rayos, tiempos, peso, rugosidad, reg):
    restos = tiempos - rayos @ modelo
    freno = rugosidad.T @ rugosidad
    pesados = rayos * peso[:, None]
    hess = pesados.T @ rayos + reg.suavidad * freno + reg.amort * jnp.eye(modelo.size)
    grad = pesados.T @ restos - reg.suavidad * (freno @ modelo)
    nuevo = modelo + jnp.linalg.solve(hess, grad)
    despues = tiempos - rayos @ nuevo
    return nuevo, jnp.sqrt(jnp.sum(peso * despues ** 2) / peso.sum()), despues


@jax.jit
def contraste(modelo, verdad):
    a, b = modelo - modelo.mean(), verdad - verdad.mean()
    return a @ b / jnp.sqrt((a @ a) * (b @ b))
