"""Corpus sintético de enunciados: cada fonema es un tono con ruido."""
import random

import torch

FONEMAS = 8
BANDAS = 10


class Corpus:
    def __init__(self, n=120, semilla=5):
        azar = random.Random(semilla)
        self.textos = [[azar.randrange(1, FONEMAS) for _ in range(6)] for _ in range(n)]
        self.ritmo = [azar.choice((2, 2, 2, 3, 4)) if k > 40 else 2 for k in range(n)]

    def __len__(self):
        return len(self.textos)

    def __getitem__(self, k):
        g = torch.Generator().manual_seed(k)
        cuadros = [f for f in self.textos[k] for _ in range(self.ritmo[k])]
        x = torch.nn.functional.one_hot(torch.tensor(cuadros), BANDAS).float()
        return x + 0.2 * torch.randn(x.shape, generator=g), torch.tensor(cuadros)


def agrupar(muestras):
    largo = max(len(y) for _, y in muestras)
    xs = torch.zeros(len(muestras), largo, BANDAS)
    ys = torch.zeros(len(muestras), largo, dtype=torch.long)
    for i, (x, y) in enumerate(muestras):
        xs[i, :len(y)], ys[i, :len(y)] = x, y
    return xs, ys


def lotes(corpus, tam=4):
    orden = list(range(len(corpus)))
    for i in range(0, len(orden), tam):
        yield agrupar([corpus[k] for k in orden[i:i + tam]])
