import numpy as np


class Netlist:
    """Toy netlist: cells with area, two- and three-pin nets."""

    def __init__(self, cells, nets, seed):
        rng = np.random.RandomState(seed)
        self.cells = cells
        self.area = rng.uniform(0.5, 1.5, size=cells).astype(np.float32)
        pins = rng.randint(0, cells, size=(nets, 3))
        pins[::2, 2] = pins[::2, 1]
        self.pins = pins.astype(np.int32)

    def start(self, seed):
        rng = np.random.RandomState(seed)
        return (0.5 + 0.15 * rng.randn(self.cells, 2)).astype(np.float32)


def hpwl(pos, pins):
    p = pos[pins]
    return float((p.max(1) - p.min(1)).sum())
