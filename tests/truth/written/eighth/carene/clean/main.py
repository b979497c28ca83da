import numpy as np

from optim import Convergence, Descente
from solveur import Precision, cout_et_gradient, matrices

V_BORNE = 2.0


def probleme(n):
    x, d1, d2 = matrices(n)
    u0 = np.exp(-4 * (x - np.pi) ** 2).astype(np.float32)
    cible = np.exp(-4 * (x - np.pi - 0.9) ** 2).astype(np.float32) * 0.8
    return x, d1, d2, u0, cible


def etude(n=32, iterations=22):
    x, d1, d2, u0, cible = probleme(n)
    forme = np.full(n, 1.0, np.float32)
    descente = Descente(taux=0.03, duree=0.9, dx=float(x[1] - x[0]))
    etat = descente.tx.init(forme)
    precision = Precision()
    suivi = Convergence(seuil=0.08)
    pas = descente.decoupe(V_BORNE)
    for it in range(iterations):
        with precision():
            cout, grad = cout_et_gradient(forme, u0, cible, d1, d2, descente.duree, pas)
        forme, etat = descente.appliquer(forme, etat, grad)
        suivi.noter(float(cout))
        if it % 4 == 3:
            print(f"it {it:2d} cout {float(cout):.6f} gain {suivi.gain:.3f}")
    return forme


if __name__ == "__main__":
    forme = etude()
    print("forme", np.round(np.asarray(forme)[:6], 3).tolist())
