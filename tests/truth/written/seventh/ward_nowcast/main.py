from datetime import date, timedelta

import numpy as np

from nightly import project, refit

WINDOW = 28


def history(n, start, seed=0):
    rng = np.random.default_rng(seed)
    days = [start + timedelta(days=i) for i in range(n)]
    wd = np.array([d.weekday() for d in days], np.int32)
    mu = np.exp(2.6 + 0.01 * np.arange(n) - 0.25 * (wd >= 5))
    return days, wd, rng.poisson(mu).astype(np.int32)


def days_until_roster(day):
    """Rosters are published on Mondays and cover everything up to the next one."""
    return 7 - day.weekday()


def main():
    days, wd, counts = history(48, date(2024, 1, 3))
    for night in range(WINDOW, WINDOW + 8):
        lo = night - WINDOW
        post = refit(wd[lo:night], counts[lo:night], seed=night)
        today = days[night - 1]
        horizon = days_until_roster(today)
        beds = project(post.median, np.int32(today.weekday()), horizon)
        print(today, "elbo", round(float(post.losses[-1]), 2), "peak", round(float(np.asarray(beds).max()), 1))


if __name__ == "__main__":
    main()
