import numpy as np

import events
from output import hourly
from solver import Solver

GRID = (16, 24)


def blob(shape):
    y, x = np.mgrid[:shape[0], :shape[1]]
    return np.exp(-((x - 6) ** 2 + (y - 8) ** 2) / 8).astype(np.float32)


def winds(hours, rng):
    base = np.full(GRID, 0.6, np.float32)
    for h in range(hours):
        amp = 1.0 + 1.4 * (h % 6 == 5) + 2.0 * (h == 7)
        yield base * np.float32(amp) + rng.uniform(0, 0.05, GRID).astype(np.float32)


def main(hours=12):
    world = {"c": blob(GRID), "emission": np.zeros(GRID, np.float32), "hour": 0}
    solver = Solver()
    for wind in winds(hours, np.random.default_rng(0)):
        with hourly(world):
            events.fire(world["hour"], world)
            world = solver.forward(world, wind)
            world["hour"] += 1
    print("pieces", solver.total)


if __name__ == "__main__":
    main()
