"""Conjunction watch: coarse filter, fine pass on the suspects, ranked warnings."""
import dataclasses

import jax
import numpy as np

from orbits import population
from screening import coarse, fine, gather_elements, suspects, worst

ALERT_LEVELS = {"green": 3, "amber": 5, "red": 8}


@dataclasses.dataclass
class Officer:
    catalogue: dict
    asset: dict
    radius_km: float = 1500.0
    fewest: int = 8
    room: int = 160

    def level(self, n_suspects):
        if n_suspects > 42:
            return "red"
        return "amber" if n_suspects > 21 else "green"

    def shift(self, start, windows):
        for w in range(windows):
            t = np.float32(start + 600.0 * w)
            flags, nearest = coarse(self.catalogue, self.asset, t, self.radius_km)
            index, n = suspects(flags, self.room)
            subset = gather_elements(self.catalogue, index)
            closest = fine(subset, self.asset, t, n)
            yield w, n, closest, worst(nearest, max(ALERT_LEVELS.values()))


def main():
    officer = Officer(population(600, seed=1), population(1, seed=2))
    log = list(officer.shift(start=0.0, windows=7))
    for w, n, (km, seconds), (listed, ids) in jax.device_get(log):
        level = officer.level(n)
        listed = listed[: ALERT_LEVELS[level]]
        print(f"window {w} {level:5s} suspects {n:3d} closest {km:.1f} km at +{seconds:.0f} s, {len(listed)} listed, first #{ids[0]}")


if __name__ == "__main__":
    main()
