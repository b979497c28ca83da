"""Conjunction watch: coarse filter, fine pass on the suspects, ranked warnings."""
import dataclasses

import jax
import numpy as np

from orbits import population
from screening import coarse, fine, gather_elements, worst

ALERT_LEVELS = {"green": 3, "amber": 5, "red": 8}


@dataclasses.dataclass
class Officer:
    catalogue: dict
    asset: dict
    radius_km: float = 1500.0
    fewest: int = 8
    room: int = 160

    def suspects(self, flags):
        hits = np.flatnonzero(flags)
        if hits.size < self.fewest:
            hits = np.arange(self.fewest)
        return hits.astype(np.int32)

    def level(self, n_suspects):
        if n_suspects > 42:
            return "red"
        return "amber" if n_suspects > 21 else "green"

    def shift(self, start, windows):
        for w in range(windows):
            t = np.float32(start + 600.0 * w)
            flags, nearest = coarse(self.catalogue, self.asset, t, self.radius_km)
            index = self.suspects(np.asarray(flags))
            subset = gather_elements(self.catalogue, index)
            closest = fine(subset, self.asset, t)
            level = self.level(len(index))
            yield w, level, len(index), closest, worst(nearest, ALERT_LEVELS[level])


def main():
    officer = Officer(population(600, seed=1), population(1, seed=2))
    log = list(officer.shift(start=0.0, windows=7))
    for w, level, n, (km, seconds), (listed, ids) in jax.device_get(log):
        print(f"window {w} {level:5s} suspects {n:3d} closest {km:.1f} km at +{seconds:.0f} s, {len(listed)} listed, first #{ids[0]}")


if __name__ == "__main__":
    main()
