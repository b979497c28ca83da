from collections import ChainMap

DEFAULTS = {
    "frames": 12,
    "start_particles": 40,
    "capacity": (8, 64),
    "dt": 0.05,
    "split_every": 2,
    "split_share": 0.3,
    "grid": 24,
    "relax_tol": 0.35,
    "sweeps": 3,
    "seed": 9,
}


def load(**overrides):
    return ChainMap(overrides, DEFAULTS)
