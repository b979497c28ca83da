import numpy as np

from dynamics import step
from planner import RecedingHorizon


def figure_eight(n):
    s = np.linspace(0, 2 * np.pi, n)
    return np.stack([1.5 * np.sin(s), 0.8 * np.sin(2 * s)], -1)


def fly(n=32):
    route = figure_eight(n)
    pilot = RecedingHorizon(route)
    x = np.array([0.0, 0.9, 0.0, 0.0], np.float32)
    gusts = np.random.default_rng(4).normal(0, 0.01, (n, 4)).astype(np.float32)
    err = []
    for k in range(n):
        u = pilot(k, x)
        x = np.asarray(step(x, u)) + gusts[k]
        if k == 9:
            x = x + np.array([0.6, -0.4, 0.0, 0.0], np.float32)
        err.append(float(np.hypot(*(x[:2] - route[k]))))
        if k % 4 == 0:
            print(f"k={k:2d} err={err[-1]:.3f} cost={pilot.history[-1]:.3f}")
    print("mean error", round(float(np.mean(err)), 4), "calls", pilot.effort["calls"])


if __name__ == "__main__":
    fly()
