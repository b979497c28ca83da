import numpy as np

from filtro import Filtro
from modello import FARI, distanza


def percorso(n, rng):
    vero = np.array([2.0, 2.0, 0.1])
    for t in range(n):
        comando = (np.float32(0.5), np.float32(0.05))
        vero[2] += 0.05
        vero[:2] += 0.5 * np.array([np.cos(vero[2]), np.sin(vero[2])])
        lettura = np.linalg.norm(vero[:2] - FARI, axis=1) + 0.1 * rng.normal(size=3)
        if t == 8:
            lettura[1] += 7.0
        yield comando, lettura.astype(np.float32), vero[:2].astype(np.float32)


def main():
    filtro = Filtro()
    for t, (comando, lettura, vero) in enumerate(percorso(11, np.random.default_rng(5))):
        stima = filtro.passo(comando, lettura)
        n, media = filtro.storia[-1]
        print(f"t={t} errore={float(distanza(stima, vero)):.3f} n={n} media={media:.4f}")


if __name__ == "__main__":
    main()
