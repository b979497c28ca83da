from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np


@dataclass
class Grid:
    n: int = 32
    pitch: float = 4e-6

    @cached_property
    def rho2(self):
        f = np.fft.fftfreq(self.n, self.pitch)
        return f[:, None] ** 2 + f[None, :] ** 2

    @cached_property
    def pupil(self):
        x = np.arange(self.n) - self.n / 2 + 0.5
        return (np.hypot(x[:, None], x[None, :]) < 0.42 * self.n).astype(np.float32)


class Bench:
    def __init__(self, grid, wavelength, z):
        self.grid = grid
        self.wavelength = wavelength
        self.z = z
        self.sweep = jax.jit(self._sweep)

    def refocus(self, z):
        return Bench(self.grid, self.wavelength, z)

    def _sweep(self, field, frame, pupil):
        kernel = np.exp(-1j * np.pi * self.wavelength * self.z * self.grid.rho2).astype(np.complex64)
        there = jnp.fft.ifft2(jnp.fft.fft2(field) * kernel)
        fit = jnp.mean((jnp.abs(there) - jnp.sqrt(frame)) ** 2)
        there = jnp.sqrt(frame) * jnp.exp(1j * jnp.angle(there))
        back = jnp.fft.ifft2(jnp.fft.fft2(there) * jnp.conj(kernel))
        return back * pupil, fit
