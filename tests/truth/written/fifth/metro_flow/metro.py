"""Red de metro sintetica: estaciones fijas, conexiones que cambian con los cortes de servicio."""
import numpy as np

ESTACIONES = 40
MAX_TRAMOS = 160


class Red:
    def __init__(self, semilla):
        self.azar = np.random.default_rng(semilla)
        pares = {(i, (i + 1) % ESTACIONES) for i in range(ESTACIONES)}
        while len(pares) < 70:
            a, b = self.azar.integers(0, ESTACIONES, 2)
            if a != b:
                pares.add((int(a), int(b)))
        self.tramos = np.array(sorted(pares), np.int32)
        self.peso = self.azar.uniform(0.2, 1.0, ESTACIONES).astype(np.float32)

    def activos(self, minuto):
        """Tramos en servicio; cada media hora cambia el plan de cortes."""
        corte = np.random.default_rng(100 + minuto // 30)
        vivos = corte.random(len(self.tramos)) > corte.uniform(0.0, 0.3)
        ida = self.tramos[vivos]
        return np.concatenate([ida, ida[:, ::-1]])

    def observar(self, minuto):
        t = minuto / 60.0
        base = np.sin(t + np.arange(ESTACIONES) / 5.0)[:, None]
        x = base + 0.1 * self.azar.normal(size=(ESTACIONES, 6))
        tramos = self.activos(minuto)
        y = self.peso * x.mean(1)
        np.add.at(y, tramos[:, 1], 0.2 * x[tramos[:, 0], 0])
        return x.astype(np.float32), y.astype(np.float32), tramos
