import numpy as np


class DailyFeed:
    """Shop turnover by day, with the campaign calendar where marketing sent one."""

    def __init__(self, days, seed=11):
        rng = np.random.default_rng(seed)
        t = np.arange(days)
        self.x = np.stack(
            [np.ones(days), np.sin(2 * np.pi * t / 7), np.cos(2 * np.pi * t / 7)], 1
        ).astype(np.float32)
        self.campaign = (rng.random(days) < 0.2).astype(np.float32)
        noise = rng.normal(0, 0.2, days)
        self.y = (self.x @ [2.0, 0.7, -0.3] + 0.8 * self.campaign + noise).astype(np.float32)
        self.published_from = 30

    def history(self, today, window):
        lo = max(0, today - window)
        hi = today
        return self.x[lo:hi], self.y[lo:hi], self.calendar(lo, hi)

    def calendar(self, lo, hi):
        if hi <= self.published_from:
            return None
        return self.campaign[lo:hi]
