import numpy as np

from feed import make_recent, meter_log
from forecast import LAGS, calibrate, folds, project, refit

SPAN = 24
N_FOLDS = 8

series = meter_log(96)
recent = make_recent(N_FOLDS)
coef = np.zeros(LAGS + 1, np.float32)
level = np.float32(4.0)
table = []

for fold in folds(N_FOLDS, first=2, stride=5):
    coef, err = refit(coef, series, fold.origin, SPAN)
    level = calibrate(level, recent(fold.number))
    end = fold.origin + SPAN
    guess = project(coef, series[end - LAGS:end], level)
    table.append((fold.number, float(err), float(guess)))

print("fold  mae     next")
for row in table:
    print("%4d  %.4f  %.3f" % row)
