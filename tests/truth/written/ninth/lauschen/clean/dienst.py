import torch

from modell import Horcher
from sitzung import Sitzung, Tonquelle

ALPHABET = "_enirstadhul"


class Dienst:
    def __init__(self, ruhe=0.2):
        self.modell = Horcher().eval()
        self.erkenne = torch.compile(self.modell)
        self.ruhe = torch.tensor(ruhe)
        self.zaehler = {"bloecke": 0, "zeichen": 0}

    @torch.inference_mode()
    def verarbeite(self, sitzung, block):
        wahrsch, summe, gueltig = self.erkenne(block, self.ruhe, sitzung.kontext, sitzung.gefuellt)
        sitzung.merke(summe)
        beste = wahrsch.argmax(-1)[gueltig].tolist()
        sitzung.schreibe([ALPHABET[i] for i in beste if i])
        self.zaehler["bloecke"] += 1
        self.zaehler["zeichen"] += len(beste)

    def bediene(self, kennung, quelle):
        with torch.inference_mode():
            sitzung = Sitzung(kennung)
        for block in quelle:
            self.verarbeite(sitzung, block)
        return sitzung


def haupt():
    torch.manual_seed(8)
    dienst = Dienst()
    raeume = {"kueche": (0, 0, 3, 0, 5, 2), "werkstatt": (4, 1, 0, 6, 0, 3)}
    for n, (kennung, pausen) in enumerate(raeume.items()):
        s = dienst.bediene(kennung, Tonquelle(40 + n, pausen))
        print(f"{s.kennung:10s} {''.join(s.text)}")
    print(dienst.zaehler)


if __name__ == "__main__":
    haupt()
