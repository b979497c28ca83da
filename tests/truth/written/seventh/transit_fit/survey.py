import numpy as np

from fitter import levenberg, predict
from lightcurve import LightCurve


def reduce_target(seed, rounds=3):
    lc = LightCurve.simulate(seed)
    theta = np.array([1.0, 0.015, 0.25, 0.03], np.float32)
    report = []
    for _ in range(rounds):
        theta, chi2 = levenberg(theta, *lc.points)
        dropped = lc.reject(np.asarray(predict(theta, lc.time)))
        report.append((chi2, dropped))
        if not dropped:
            break
    return theta, report


if __name__ == "__main__":
    for target in range(5):
        theta, report = reduce_target(target)
        line = "  ".join(f"{c:.1f}(-{d})" for c, d in report)
        print(f"target {target} depth {float(theta[1]):.4f} width {float(theta[2]):.4f}  {line}")
