class Bitacora:
    """Guarda la pérdida suavizada cada `cada` pasos."""

    def __init__(self, cada=9):
        self.cada = cada
        self.filas = []
        self._media = None

    def _suavizar(self, v):
        self._media = v if self._media is None else 0.8 * self._media + 0.2 * v
        return self._media

    def anotar(self, paso, perdida):
        if paso % self.cada != self.cada - 1:
            return
        self.filas.append((paso, self._suavizar(perdida.item())))

    def resumen(self):
        return " ".join(f"{p}:{v:.2f}" for p, v in self.filas)
