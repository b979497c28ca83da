from dataclasses import dataclass

import numpy as np


@dataclass
class Nachbarliste:
    idx: np.ndarray
    referenz: np.ndarray
    radius: float

    @property
    def breite(self):
        return self.idx.shape[1]


def _paare(ort, kasten, radius):
    delta = ort[:, None] - ort[None]
    delta -= kasten * np.round(delta / kasten)
    nah = (np.square(delta).sum(-1) < radius**2) & ~np.eye(len(ort), dtype=bool)
    return nah


def belegen(ort, kasten, grenze, haut, breite=24):
    ort = np.asarray(ort)
    nah = _paare(ort, kasten, grenze + haut)
    hoechst = int(nah.sum(1).max())
    if hoechst > breite:
        raise OverflowError(f"{hoechst} Nachbarn, Platz fuer {breite}")
    n = len(ort)
    idx = np.full((n, breite), n, np.int32)
    for i in range(n):
        js = np.flatnonzero(nah[i])
        idx[i, : len(js)] = js
    return Nachbarliste(idx, ort.copy(), grenze + haut)


def veraltet(liste, ort, kasten, haut):
    weg = np.asarray(ort) - liste.referenz
    weg -= kasten * np.round(weg / kasten)
    return np.sqrt(np.square(weg).sum(-1)).max() > haut / 2
