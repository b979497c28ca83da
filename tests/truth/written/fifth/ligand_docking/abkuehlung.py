from dataclasses import dataclass


@dataclass(frozen=True)
class Kuehlplan:
    start: float = 4.0
    ende: float = 0.5
    stufen: int = 4
    zuege_je_stufe: int = 20

    def __iter__(self):
        faktor = (self.ende / self.start) ** (1 / (self.stufen - 1))
        temperatur = self.start
        for stufe in range(self.stufen):
            yield stufe, temperatur
            temperatur = temperatur * faktor
