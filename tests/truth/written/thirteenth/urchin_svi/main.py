import argparse

import numpy as np

from survey import Logbook, Season, best_of


def transect(season, quadrats):
    rng = np.random.default_rng(100 + season)
    depth = rng.uniform(-1, 1, quadrats).astype(np.float32)
    counts = rng.poisson(np.exp(1.2 - 0.7 * depth)).astype(np.int32)
    return depth, counts


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seasons", type=int, default=3)
    ap.add_argument("--restarts", type=int, default=2)
    args = ap.parse_args()
    logbook, season_fit = Logbook(), Season()
    for season in range(args.seasons):
        logbook.add(*transect(season, quadrats=10))
        loss, params = best_of(season_fit, logbook, range(args.restarts))
        slope = float(params["slope_auto_loc"])
        print(f"season {season} n {season * 10 + 10} elbo {-loss:.2f} slope {slope:+.3f}")


if __name__ == "__main__":
    main()
