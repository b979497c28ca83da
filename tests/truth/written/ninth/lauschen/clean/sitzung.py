import time
from dataclasses import dataclass, field

import torch


@dataclass
class Sitzung:
    kennung: str
    fenster: int = 4
    breite: int = 24
    kontext: torch.Tensor = None
    gefuellt: torch.Tensor = None
    text: list = field(default_factory=list)
    begonnen: float = field(default_factory=time.time)

    def __post_init__(self):
        self.kontext = torch.zeros(self.fenster, self.breite)
        self.gefuellt = torch.zeros(self.fenster)

    def merke(self, zusammenfassung):
        self.kontext = torch.cat([self.kontext[1:], zusammenfassung[None]])
        self.gefuellt = torch.cat([self.gefuellt[1:], torch.ones(1)])

    def schreibe(self, zeichen):
        for z in zeichen:
            if not self.text or self.text[-1] != z:
                self.text.append(z)


class Tonquelle:
    """Erzeugt Bloecke zu 16 Rahmen; am Ende jedes Blocks kann Stille stehen."""

    def __init__(self, samen, pausen, rahmen=16, merkmale=20):
        self.gen = torch.Generator().manual_seed(samen)
        self.pausen = pausen
        self.rahmen, self.merkmale = rahmen, merkmale

    def __iter__(self):
        for pause in self.pausen:
            ton = torch.randn(self.rahmen, self.merkmale, generator=self.gen)
            if pause:
                ton[-pause:] *= 0.01
            yield ton
