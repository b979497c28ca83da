import jax.numpy as jnp
import numpy as np

from probes import FrontProbe
from solver import Stepper, wave_speed


def sod(n):
    x = np.arange(n) / n
    rho = np.where(x < 0.5, 1.0, 0.125)
    p = np.where(x < 0.5, 1.0, 0.1)
    return jnp.asarray(np.stack([rho, 0 * rho, p / 0.4]), jnp.float32)


class Clock:
    def __init__(self, dx, cfl):
        self.dx, self.cfl, self.t = dx, cfl, 0.0
        self._last = None

    def tick(self, speed):
        target = float(f"{self.cfl * self.dx / speed:.1e}")
        self._last = target
        return target


def main(n=200, cycles=12):
    dx = 1.0 / n
    U = sod(n)
    clock, stepper, probe = Clock(dx, 0.4), Stepper(dx), FrontProbe()
    mass0 = float(U[0].sum())
    for c in range(cycles):
        dt = clock.tick(float(wave_speed(U)))
        U = stepper.at(dt)(U)
        clock.t += dt * stepper.substeps
        if c % 2:
            probe(clock.t, U)
        print(f"cycle {c:2d} t={clock.t:.4f} mass drift {float(U[0].sum()) - mass0:+.2e}")
    for t, where, stats in probe.trace:
        print(f"{t:.4f} {where} {stats.round(3)}")


if __name__ == "__main__":
    main()
