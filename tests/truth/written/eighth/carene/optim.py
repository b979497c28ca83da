import math

import jax
import optax


class Convergence:
    def __init__(self, seuil):
        self.seuil = seuil
        self.couts = []

    def noter(self, c):
        self.couts.append(c)

    @property
    def gain(self):
        if len(self.couts) < 2:
            return 1.0
        return abs(self.couts[-2] - self.couts[-1]) / self.couts[-2]

    @property
    def atteinte(self):
        return len(self.couts) > 12 and self.gain < self.seuil


class Descente:
    def __init__(self, taux, duree, dx, cfl=0.4):
        self.tx = optax.adam(taux)
        self.duree, self.dx, self.cfl = duree, dx, cfl
        self.appliquer = jax.jit(self._appliquer)

    def _appliquer(self, forme, etat, grad):
        delta, etat = self.tx.update(grad, etat)
        return optax.apply_updates(forme, delta), etat

    def decoupe(self, vmax):
        return math.ceil(self.duree * vmax / (self.cfl * self.dx))
