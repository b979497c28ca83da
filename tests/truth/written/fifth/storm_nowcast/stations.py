"""Hourly station reports on a fixed roster; silent stations are masked out."""
import numpy as np

ROSTER = 128
FEATURES = 10


def reports(hours, seed):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(ROSTER, FEATURES)).astype(np.float32)
    truth = rng.normal(size=FEATURES).astype(np.float32)
    for hour in range(hours):
        latent = 0.95 * latent + 0.3 * rng.normal(size=latent.shape).astype(np.float32)
        outage = 0.40 if hour % 6 == 4 else 0.05
        alive = rng.random(ROSTER) > outage
        y = np.tanh(latent @ truth) + 0.05 * rng.normal(size=ROSTER)
        if hour % 7 == 6:
            y = y * 2.5                          # iced anemometers
        yield latent, y.astype(np.float32), alive
