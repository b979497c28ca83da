import numpy as np

from propagate import Bench


class Stage:
    """Motorised focus; moves between a few detents."""

    def __init__(self, planes, dwell=3):
        self.planes, self.dwell, self.ticks = planes, dwell, 0

    @property
    def index(self):
        return (self.ticks // self.dwell) % len(self.planes)

    @property
    def z(self):
        return self.planes[self.index]

    def tick(self):
        self.ticks += 1
        return self.ticks % self.dwell == 0


def record(grid, wavelength, planes, seed):
    rng = np.random.default_rng(seed)
    low = rng.normal(size=(grid.n, grid.n))
    low = np.real(np.fft.ifft2(np.fft.fft2(low) * np.exp(-grid.rho2 / grid.rho2.max() * 90)))
    field = grid.pupil * np.exp(1j * 3.0 * low / low.std())
    frames = []
    for z in planes:
        kernel = np.exp(-1j * np.pi * wavelength * z * grid.rho2)
        frames.append((np.abs(np.fft.ifft2(np.fft.fft2(field) * kernel)) ** 2).astype(np.float32))
    return frames


class Retrieval:
    def __init__(self, grid, wavelength, planes, seed=0):
        self.frames = record(grid, wavelength, planes, seed)
        self.pupil = grid.pupil
        self.stage = Stage(planes)
        self.bench = Bench(grid, wavelength, self.stage.z)
        self.estimate = np.sqrt(self.frames[0])

    def iterate(self, total):
        bench = self.bench
        for _ in range(total):
            k = self.stage.index
            self.estimate, fit = bench.sweep(self.estimate, self.frames[k], self.pupil)
            yield k, float(fit)
            if self.stage.tick():
                bench = bench.refocus(self.stage.z)
