import time
from dataclasses import dataclass, field

import torch


@dataclass
class Sitzung:
    kennung: str
    fenster: int = 4
    kontext: list = field(default_factory=list)
    text: list = field(default_factory=list)
    begonnen: float = field(default_factory=time.time)

    def merke(self, zusammenfassung):
        self.kontext.append(zusammenfassung)
        if len(self.kontext) > self.fenster:
            self.kontext.pop(0)

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
