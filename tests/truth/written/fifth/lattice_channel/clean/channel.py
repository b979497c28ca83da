from layout import OBSTACLE, POPULATIONS
import jax
import numpy as np

from checkpoint import Vault
from lattice import WEIGHT, advance_inplace, diagnostics

NY, NX = 32, 64


def initial(seed):
    rng = np.random.default_rng(seed)
    f = WEIGHT[:, None, None] * (1 + 0.02 * rng.normal(size=(9, NY, NX)))
    yy, xx = np.mgrid[:NY, :NX]
    wall = (yy - NY / 2) ** 2 + (xx - NX / 4) ** 2 < 16
    return jax.device_put(f.astype(np.float32), POPULATIONS), jax.device_put(wall, OBSTACLE)


def run(segments=3, steps=12, viscosity=0.03):
    omega = 1.0 / (3 * viscosity + 0.5)
    vault = Vault()
    f, wall = initial(0)
    report = []
    for segment in range(segments):
        if segment == 2:                      # the scheduler moves us: come back from the vault
            f = vault.restore(f"seg{segment - 1}")
        for step in range(steps):
            if step == steps - 1:             # needed for the convergence test
                before = diagnostics(f, wall)
            f = advance_inplace(f, wall, omega)
        d = diagnostics(f, wall)
        vault.save(f"seg{segment}", f)
        report.append((segment, d, before))
    for segment, d, before in jax.device_get(report):
        print(f"segment {segment} mass {d['mass']:.4f} speed {d['speed']:.4f} change {d['speed'] - before['speed']:+.1e}")


if __name__ == "__main__":
    run()
