"""Synthetic tide-gauge archive: hourly levels with outages and a quality column."""
from dataclasses import dataclass

import numpy as np

HOURS_PER_WEEK = 168
PERIODS_H = np.array([12.4206, 12.0, 23.9345, 25.8193, 12.6583], np.float32)


@dataclass
class Station:
    name: str
    hours: np.ndarray
    level: np.ndarray
    quality: np.ndarray
    datum: float


def synthesize(name, weeks, rng):
    n = weeks * HOURS_PER_WEEK
    hours = np.arange(n, dtype=np.float32)
    amp = rng.uniform(0.1, 1.2, PERIODS_H.size)
    phase = rng.uniform(0, 2 * np.pi, PERIODS_H.size)
    level = (amp * np.cos(2 * np.pi * hours[:, None] / PERIODS_H + phase)).sum(1)
    level = (level + 0.05 * rng.normal(size=n)).astype(np.float32)
    for _ in range(weeks):                       # sensor outages
        a = rng.integers(0, n - 20)
        level[a:a + rng.integers(2, 15)] = np.nan
    quality = rng.choice([0.5, 1.0], size=n).astype(np.float32)
    return Station(name, hours, level, quality, datum=float(rng.normal()))


def weekly_windows(station):
    """One (hours, level, weight) triple a week of the record."""
    n_weeks = len(station.hours) // HOURS_PER_WEEK
    for w in range(n_weeks):
        sel = slice(w * HOURS_PER_WEEK, (w + 1) * HOURS_PER_WEEK)
        t, h, q = station.hours[sel], station.level[sel], station.quality[sel]
        good = np.isfinite(h)
        yield t[good], h[good], q[good]
