from dataclasses import dataclass

import numpy as np


@dataclass
class Lecturas:
    rayos: np.ndarray
    tiempos: np.ndarray
    evento: np.ndarray
    peso: np.ndarray

    def __len__(self):
        return int(self.peso.sum())

    def filtrar(self, cuales):
        return Lecturas(self.rayos, self.tiempos, self.evento, self.peso * cuales.astype(np.float32))


def trazar(origen, destino, nx, ny, muestras=64):
    fila = np.zeros(nx * ny, np.float32)
    t = (np.arange(muestras) + 0.5) / muestras
    puntos = origen + t[:, None] * (destino - origen)
    largo = np.linalg.norm(destino - origen) / muestras
    ix = np.clip((puntos[:, 0] * nx).astype(int), 0, nx - 1)
    iy = np.clip((puntos[:, 1] * ny).astype(int), 0, ny - 1)
    np.add.at(fila, iy * nx + ix, largo)
    return fila


def sintetizar(semilla, nx, ny, eventos=12, estaciones=9):
    rng = np.random.default_rng(semilla)
    verdad = 1.0 + 0.15 * np.sin(np.linspace(0, 9, nx * ny)).astype(np.float32)
    filas, ids = [], []
    fuentes = rng.uniform(0, 1, (eventos, 2))
    receptores = np.stack([np.linspace(0.02, 0.98, estaciones), np.zeros(estaciones)], 1)
    for e, f in enumerate(fuentes):
        for r in receptores:
            filas.append(trazar(f, r, nx, ny))
            ids.append(e)
    rayos = np.stack(filas)
    tiempos = rayos @ verdad + rng.normal(0, 0.004, len(filas))
    malos = rng.choice(len(filas), 14, replace=False)
    tiempos[malos] += rng.exponential(0.25, 14)
    return verdad, Lecturas(rayos, tiempos.astype(np.float32), np.asarray(ids), np.ones(len(ids), np.float32))


def laplaciano(nx, ny):
    n = nx * ny
    L = np.zeros((n, n), np.float32)
    for k in range(n):
        x, y = k % nx, k // nx
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if 0 <= x + dx < nx and 0 <= y + dy < ny:
                L[k, k] += 1
                L[k, (y + dy) * nx + x + dx] -= 1
    return L
