import torch
from torch import nn


class Horcher(nn.Module):
    def __init__(self, merkmale=20, breite=24, zeichen=12):
        super().__init__()
        self.eingang = nn.Linear(merkmale, breite)
        self.rueckblick = nn.Linear(breite, breite)
        self.kopf = nn.Linear(breite, zeichen)

    def kodiere(self, block):
        return torch.tanh(self.eingang(block))

    def forward(self, block, ruhe, kontext, gefuellt):
        h = self.kodiere(block)
        laut = block.abs().mean(-1) >= ruhe
        gueltig = torch.arange(h.shape[0]) < laut.sum()
        alt = (kontext * gefuellt[:, None]).sum(0) / gefuellt.sum().clamp(min=1.0)
        h = h + self.rueckblick(alt) * gefuellt.max()
        logits = self.kopf(h)
        mittel = (h * gueltig[:, None]).sum(0) / gueltig.sum()
        return logits.log_softmax(-1), mittel, gueltig
