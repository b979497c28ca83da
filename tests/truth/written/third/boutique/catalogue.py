# -*- coding: utf-8 -*-
"""Catalogue jouet : vecteurs d'articles, paniers, contexte marchand."""
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

DIM = 24
N_ARTICLES = 400
LOT = 8


@dataclass
class Requete:
    utilisateurs: np.ndarray
    paniers: np.ndarray            # (LOT, 5) identifiants, -1 = vide
    page: int
    soldes: Optional[np.ndarray] = None
    meta: dict = field(default_factory=dict)


class Magasin:
    TAILLE_PAGE = 12

    def __init__(self, graine=5):
        self.rng = np.random.default_rng(graine)
        self.articles = self.rng.normal(size=(N_ARTICLES, DIM)).astype(np.float32)
        self.profils = self.rng.normal(size=(60, DIM)).astype(np.float32)
        self.tendance = self.rng.normal(size=DIM).astype(np.float32) * 0.1

    def contexte(self, req):
        if req.soldes is None:
            return self.tendance
        return self.tendance + req.soldes

    def flux(self, n):
        """n requêtes, dans l'ordre d'arrivée."""
        for j in range(n):
            qui = self.rng.integers(0, 60, LOT)
            paniers = self.rng.integers(-1, N_ARTICLES, (LOT, 5)).astype(np.int32)
            soldes = None
            if j >= 17 and j % 3 == 2:
                soldes = self.rng.normal(size=(LOT, DIM)).astype(np.float32) * 0.3
            page = int(self.rng.choice([0, 0, 0, 1, 1, 2, 3]))
            yield Requete(self.profils[qui], paniers, page, soldes)
