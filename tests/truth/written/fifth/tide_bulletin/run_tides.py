import numpy as np

from gauge import HOURS_PER_WEEK, synthesize, weekly_windows
from harmonics import blank, fit_step, forecaster

HARBOURS = ["Brest", "Leixoes", "Cuxhaven"]
ITERATIONS = 12


def high_water(forecast, first_hour):
    hours = np.arange(first_hour, first_hour + 48, dtype=np.float32)
    level = np.asarray(forecast(hours))
    return hours[level.argmax()], level.max()


def main():
    rng = np.random.default_rng(11)
    bulletin = []
    for name in HARBOURS:
        station = synthesize(name, weeks=3, rng=rng)
        coef, opt_state = blank()
        for week, (t, h, w) in enumerate(weekly_windows(station)):
            for _ in range(ITERATIONS + 2 * week):
                coef, opt_state, misfit = fit_step(coef, opt_state, t, h, w)
            when, height = high_water(forecaster(coef, station.datum), (week + 1) * HOURS_PER_WEEK)
            bulletin.append((name, week, float(misfit), float(when), float(height)))
    for row in bulletin:
        print("%-10s week %d misfit %.3f  HW at %.0f h: %.2f m" % row)


if __name__ == "__main__":
    main()
