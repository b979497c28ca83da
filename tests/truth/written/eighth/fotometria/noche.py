"""Simulador de una noche de observación."""
from typing import NamedTuple

import numpy as np


class Cabecera(NamedTuple):
    numero: int
    filtro: str
    fwhm: float
    binado: int


class Exposicion(NamedTuple):
    cabecera: Cabecera
    cuentas: np.ndarray


def campo(rng, n, lado):
    return rng.uniform(9, lado - 9, size=(n, 2)), rng.uniform(300, 900, size=n)


def observar(total=14, lado=64, semilla=3):
    rng = np.random.default_rng(semilla)
    yy, xx = np.mgrid[0:lado, 0:lado]
    for k in range(total):
        filtro = "gri"[k % 3]
        fwhm = 2.6 + 0.5 * np.sin(k)
        xy, flujo = campo(rng, int(rng.integers(5, 12)), lado)
        s2 = (fwhm / 2.355) ** 2
        img = rng.normal(50, 2, size=(lado, lado))
        for (y, x), f in zip(xy, flujo):
            img += f / (2 * np.pi * s2) * np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / (2 * s2))
        yield Exposicion(Cabecera(k, filtro, float(fwhm), 16 if filtro == "i" and k > 7 else 8), img.astype(np.float32))
