"""Verarbeitungsstufen, mit | verkettet."""
import numpy as np


class Stufe:
    def __or__(self, naechste):
        return Kette(self, naechste)

    def __call__(self, strom):
        for satz in strom:
            yield self.wandle(satz)

    def wandle(self, satz):
        raise NotImplementedError


class Kette(Stufe):
    def __init__(self, *glieder):
        self.glieder = glieder

    def __or__(self, naechste):
        return Kette(*self.glieder, naechste)

    def __call__(self, strom):
        for g in self.glieder:
            strom = g(strom)
        return strom


class Pruefung(Stufe):
    def __init__(self, grenze):
        self.grenze = grenze
        self.verworfen = 0

    def wandle(self, satz):
        gut = {}
        for name, feld in satz["felder"].items():
            if np.isnan(feld).mean() > self.grenze:
                self.verworfen += 1
                continue
            gut[name] = np.nan_to_num(feld)
        return {**satz, "felder": gut}


class Normierung(Stufe):
    def __init__(self, mittel, streuung):
        self.mittel, self.streuung = mittel, streuung

    def wandle(self, satz):
        felder = {k: ((v - self.mittel[k]) / self.streuung[k]).astype(np.float32) for k, v in satz["felder"].items()}
        return {**satz, "felder": felder}


class Zeitschnitt(Stufe):
    """Trennt Anfangszustand und Zielfelder."""

    def __init__(self, plan):
        self.plan = plan

    def wandle(self, satz):
        weite = self.plan.weite(satz["lauf"])
        verlauf = satz["felder"].pop("regen")
        return {
            "lauf": satz["lauf"],
            "start": verlauf[:, 0],
            "ziel": verlauf[:, 1:1 + weite],
            "zusatz": satz["felder"],
        }
