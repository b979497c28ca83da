import torch
from torch import nn


class Bloc(nn.Module):
    def __init__(self, entree, sortie):
        super().__init__()
        self.conv = nn.Conv2d(entree, sortie, 3, stride=2, padding=1)
        self.norme = nn.GroupNorm(2, sortie)

    def forward(self, x):
        return torch.relu(self.norme(self.conv(x)))


class Feuillage(nn.Module):
    def __init__(self, canaux=(3, 8, 12)):
        super().__init__()
        self.etages = nn.ModuleList(Bloc(a, b) for a, b in zip(canaux, canaux[1:]))

    def forward(self, x):
        for etage in self.etages:
            x = etage(x)
        return x.mean((2, 3))
