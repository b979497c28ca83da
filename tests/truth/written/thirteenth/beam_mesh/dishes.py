import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P


class Telescope:
    def __init__(self, mesh, dishes=16, snaps=32, seed=0):
        self.rng = np.random.default_rng(seed)
        self.dishes, self.snaps = dishes, snaps
        self.rows = NamedSharding(mesh, P("dev"))
        self.pilot = jnp.asarray(self._snap(0.0))
        self.pointing = 0.1

    def _snap(self, angle):
        t = self.rng.uniform(0, 2 * np.pi, (self.snaps, 1))
        phase = np.pi * np.sin(angle) * np.arange(self.dishes)
        tone = np.cos(t + phase)
        jam = 0.8 * np.cos(2 * t + np.pi * np.sin(0.9) * np.arange(self.dishes))
        return (tone + jam + 0.1 * self.rng.normal(size=tone.shape)).astype(np.float32)

    def aim(self, angle):
        return np.float32(np.cos(angle))

    def blocks(self, n):
        for k in range(n):
            if k % 5 == 4:
                yield "pilot", self.pilot, self.aim(0.0)
                continue
            self.pointing = 0.3 * np.sin(k)
            snap = jax.device_put(self._snap(self.pointing), self.rows)
            yield "sky", snap, self.aim(self.pointing)
