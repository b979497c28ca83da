import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from metro import ESTACIONES, Red
from red_neuronal import Pronostico


def optimizador(tasa):
    sgd = optax.inject_hyperparams(optax.sgd)(learning_rate=tasa, momentum=0.9)
    return optax.chain(optax.clip_by_global_norm(1.0), sgd)


@eqx.filter_jit
def paso(modelo, estado, opt, x, y, tramos):
    @eqx.filter_value_and_grad
    def coste(m):
        return jnp.mean((m(x, tramos) - y) ** 2)

    c, g = coste(modelo)
    cambios, estado = opt.update(g, estado, modelo)
    return eqx.apply_updates(modelo, cambios), estado, c


class Meseta:
    """Baja la tasa tras cada turno; mas deprisa si no mejoro bastante."""

    def __init__(self, tasa, paciencia=0.7):
        self.tasa, self.paciencia = tasa, paciencia
        self.mejor = float("inf")

    def turno(self, coste_medio):
        if coste_medio > self.paciencia * self.mejor:
            self.tasa *= 0.5
        else:
            self.tasa *= 0.9
        self.mejor = min(self.mejor, coste_medio)
        return self.tasa


def principal(turnos=3, minutos=(0, 15, 30, 45)):
    red = Red(3)
    modelo = Pronostico(6, 12, ESTACIONES, key=jax.random.PRNGKey(0))
    meseta = Meseta(0.1)
    opt = optimizador(meseta.tasa)
    estado = opt.init(eqx.filter(modelo, eqx.is_array))
    for turno in range(turnos):
        costes = []
        for minuto in minutos:
            x, y, tramos = red.observar(minuto)
            modelo, estado, c = paso(modelo, estado, opt, x, y, tramos)
            costes.append(c)
        medio = sum(jax.device_get(costes)) / len(costes)
        estado[1].hyperparams["learning_rate"] = np.float32(meseta.turno(float(medio)))
        print(f"turno {turno}  coste {medio:.4f}  tasa {meseta.tasa:.4f}")


if __name__ == "__main__":
    principal()
