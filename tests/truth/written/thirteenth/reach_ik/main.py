import numpy as np

from arm import ArmSpec
from planner import Planner


def waypoints(n, seed=2):
    rng = np.random.default_rng(seed)
    ang = np.linspace(0.2, 2.6, n)
    rad = 0.9 + 0.35 * np.sin(3 * ang)
    pts = np.stack([rad * np.cos(ang), rad * np.sin(ang)], 1)
    pts[[3, 7]] *= 1.9
    return (pts + rng.normal(0, 0.01, pts.shape)).astype(np.float32)


def main():
    planner = Planner(ArmSpec())
    q0 = np.full(4, 0.2, np.float32)
    for k, (gap, used, err) in enumerate(planner.follow(q0, waypoints(10))):
        print(f"goal {k} gap {gap:.4f} iters {used:2d} trail {err:.3f} restarts {planner.restarts}")


main()
