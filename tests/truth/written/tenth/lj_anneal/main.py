import jax
import numpy as np

from nachbarn import belegen, veraltet
from physik import langevin, paarverteilung

KASTEN, GRENZE, HAUT = 6.0, 2.0, 0.5
STUFEN = [(1.4, 26), (0.9, 26), (0.4, 26)]


class Messung:
    def __init__(self, alle):
        self.alle = alle
        self.bahn = []
        self.energien = []

    def __call__(self, i, zustand, e):
        if i % self.alle == 0:
            self.bahn.append(np.asarray(zustand.ort))
            self.energien.append(float(e))

    def bericht(self, stufe, kT):
        g = np.asarray(paarverteilung(np.stack(self.bahn), KASTEN))
        print(f"Stufe {stufe} kT={kT} E={np.mean(self.energien[-4:]):8.2f} Spitze {g.argmax()} Bilder {len(self.bahn)}")


def gitter(n):
    s = np.linspace(0, KASTEN, n, endpoint=False, dtype=np.float32) + 0.5
    return np.stack(np.meshgrid(s, s), -1).reshape(-1, 2)


def simuliere():
    ort = gitter(5)
    key = jax.random.PRNGKey(4)
    liste = belegen(ort, KASTEN, GRENZE, HAUT)
    messung = Messung(alle=5)
    zustand, neu = None, 0
    for stufe, (kT, schritte) in enumerate(STUFEN):
        start, schritt = langevin(KASTEN, dt=0.02, kT=kT)
        if zustand is None:
            zustand = start(ort, key)
        for i in range(schritte):
            if veraltet(liste, zustand.ort, KASTEN, HAUT):
                liste = belegen(zustand.ort, KASTEN, GRENZE, HAUT)
                neu += 1
            zustand, e = schritt(zustand, liste.idx)
            messung(i, zustand, e)
        messung.bericht(stufe, kT)
    print("Listen neu gebaut:", neu)


if __name__ == "__main__":
    simuliere()
