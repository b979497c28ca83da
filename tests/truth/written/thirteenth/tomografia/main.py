import argparse

import numpy as np

from inversion import Regularizacion, contraste, paso
from lecturas import laplaciano, sintetizar


def opciones():
    p = argparse.ArgumentParser()
    p.add_argument("--nx", type=int, default=6)
    p.add_argument("--ny", type=int, default=5)
    p.add_argument("--vueltas", type=int, default=10)
    p.add_argument("--corte", type=float, default=3.5)
    p.add_argument("--calma", type=int, default=2, help="vueltas antes de depurar")
    return p.parse_args()


def main():
    args = opciones()
    verdad, lecturas = sintetizar(4, args.nx, args.ny)
    rugosidad = laplaciano(args.nx, args.ny)
    modelo = np.ones(args.nx * args.ny, np.float32)
    reg, previo = Regularizacion(), None
    for vuelta in range(args.vueltas):
        modelo, rms, restos = paso(modelo, lecturas.rayos, lecturas.tiempos, rugosidad, reg=reg)
        rms, restos = float(rms), np.asarray(restos)
        if previo is not None:
            reg = reg.relajar((previo - rms) / previo)
        if vuelta >= args.calma and vuelta % 2 == 0:
            escala = 1.4826 * np.median(np.abs(restos))
            buenas = np.abs(restos) <= args.corte * max(escala, 1e-3)
            lecturas = lecturas.filtrar(buenas)
        previo = rms
        print(f"{vuelta:2d} rms {rms:.4f} lecturas {len(lecturas):3d} r {float(contraste(modelo, verdad)):.3f}")


if __name__ == "__main__":
    main()
