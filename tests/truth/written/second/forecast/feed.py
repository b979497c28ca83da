from collections import deque
import numpy as np


def sensor(n, missing_from):
    rng = np.random.default_rng(5)
    for i in range(n):
        level = rng.integers(0, 50)
        yield (i, float(np.sin(i / 3)), level if i < missing_from else np.nan if i % 2 else float(level))


class Fenster:
    """Gleitendes Fenster über die letzten Werte."""

    def __init__(self, quelle, breite):
        self.quelle = quelle
        self.werte = deque(maxlen=breite)

    def __iter__(self):
        for satz in self.quelle:
            self.werte.append(satz)
            zeit, welle, stand = zip(*self.werte)
            yield np.asarray(welle, np.float32), np.asarray(stand)
