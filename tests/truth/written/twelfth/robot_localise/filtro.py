import numpy as np

from modello import move, weigh


class Filtro:
    def __init__(self, massimo=96, lato=1.0, soglia=0.02, seme=0):
        self.massimo, self.lato, self.soglia = massimo, lato, soglia
        self.rng = np.random.default_rng(seme)
        centro = np.array([2.0, 2.0, 0.0])
        self.pose = (centro + self.rng.normal(scale=(1.2, 1.2, 0.2), size=(massimo, 3))).astype(np.float32)
        self.perso = False
        self.storia = []

    def numero(self, pose):
        celle = len(np.unique(np.floor(pose / self.lato), axis=0))
        return int(np.clip(8 * celle, 16, self.massimo))

    def ricampiona(self, pose, pesi):
        pesi = np.asarray(pesi, np.float64) + 1e-9
        pesi /= pesi.sum()
        quanti = self.numero(pose)
        scelti = self.rng.choice(len(pose), size=quanti, p=pesi)
        return pose[scelti]

    def passo(self, comando, lettura):
        rumore = self.rng.normal(size=(len(self.pose), 2)).astype(np.float32)
        pose = np.asarray(move(self.pose, comando, rumore))
        pesi, media = weigh(pose, lettura, robusto=self.perso)
        media = float(media)
        self.perso = media < self.soglia
        stima = (pose[:, :2] * np.asarray(pesi)[:, None]).sum(0)
        self.pose = self.ricampiona(pose, pesi)
        self.storia.append((len(self.pose), media))
        return stima
