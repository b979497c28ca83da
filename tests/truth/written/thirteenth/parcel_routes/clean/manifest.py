from dataclasses import dataclass

import numpy as np


@dataclass
class Depot:
    name: str
    evening: bool = False
    congestion: float = 1.0


DEPOTS = [Depot("harbour"), Depot("east", congestion=1.3), Depot("old-town", evening=True, congestion=1.7)]


def day_sheet(depot, rng, vans=8, stops=10):
    xy = rng.uniform(-1, 1, (vans, stops, 2)).astype(np.float32)
    leg = np.linalg.norm(np.diff(xy, axis=1, prepend=0), axis=-1)
    eta = np.cumsum(leg * depot.congestion + 0.05, axis=1)
    windows = [[(rng.uniform(0, 4), rng.uniform(4, 8)) for _ in range(stops)] for _ in range(vans)]
    slots = np.array(windows, np.float32)
    if not depot.evening:
        slots[..., 1] = slots[..., 0]
    return {
        "xy": xy,
        "slots": slots,
        "traffic": np.float32(depot.congestion),
        "eta": eta.astype(np.float32),
    }


def calendar(days, seed):
    rng = np.random.default_rng(seed)
    for d in range(days):
        depot = DEPOTS[2] if d in (5, 9) else DEPOTS[d % 2]
        yield d, depot.name, day_sheet(depot, rng)
