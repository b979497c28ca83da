import bisect

TEXT = """
version: 4
abschnitte: 0=1 9=2 15=4
max_vorlauf: 4
rate: 2e-3
laeufe: 20
"""


class Plan:
    def __init__(self, text):
        werte = dict(z.split(": ", 1) for z in text.strip().splitlines())
        paare = [tuple(map(int, p.split("="))) for p in werte["abschnitte"].split()]
        self.ab = [p[0] for p in paare]
        self.stufen = [p[1] for p in paare]
        self.max_vorlauf = int(werte["max_vorlauf"])
        self.rate = float(werte["rate"])
        self.laeufe = int(werte["laeufe"])

    def weite(self, lauf):
        return self.stufen[bisect.bisect_right(self.ab, lauf) - 1]
