import torch
from torch import nn


class Rauschplan(nn.Module):
    """Gibt am Anfang viel, später wenig Eingangsrauschen."""

    def __init__(self, halbwert=20.0, start=0.3):
        super().__init__()
        self.halbwert = halbwert
        self.start = start
        self.schritt = 0

    def staerke(self):
        self.schritt += 1
        return self.start * 0.5 ** (self.schritt / self.halbwert)

    def forward(self, x, eps):
        return x + self.staerke() * eps


class Lastnetz(nn.Module):
    def __init__(self, kanaele, breite=32, horizont=6, quantile=3):
        super().__init__()
        self.rauschen = Rauschplan()
        self.ein = nn.Linear(kanaele, breite)
        self.misch = nn.ModuleList(nn.Linear(breite, breite) for _ in range(2))
        self.aus = nn.Linear(breite, horizont * quantile)
        self.h, self.q = horizont, quantile

    def forward(self, x, eps):
        z = torch.relu(self.ein(self.rauschen(x, eps)))
        for m in self.misch:
            z = z + torch.tanh(m(z))
        return self.aus(z.mean(1)).view(-1, self.h, self.q)


def pinball(vorhersage, ziel, alphas):
    """Quantilverlust; ziel wird gegen die Quantilachse gebroadcastet."""
    ziel = ziel.reshape(vorhersage.shape[0], vorhersage.shape[1], 1)
    d = ziel - vorhersage
    return torch.maximum(alphas * d, (alphas - 1) * d).mean()
