import numpy as np


def flight_lines(n_lines, points, seed):
    """Airborne radar lines; each one is resampled to the same number of points."""
    rng = np.random.default_rng(seed)
    for line in range(n_lines):
        s = np.sort(rng.random(points + rng.integers(0, 40)))
        keep = np.linspace(0, len(s) - 1, points).astype(int)
        s = s[keep]
        slope = 0.05 + 0.1 * rng.random(points)
        speed = 50 + 200 * np.exp(-((s - 0.5) ** 2) * 8)
        elev = 2500 - 900 * s
        balance = -2 + elev / 1000
        x = np.stack([slope * 10, speed / 100, elev / 1000, balance], 1)
        y = (speed / 60) ** 0.25 / (slope * 8) + 0.05 * rng.normal(size=points)
        yield line, x.astype(np.float32), y.astype(np.float32)
