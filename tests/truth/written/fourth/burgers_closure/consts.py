from math import *
N = 48
B = 6
DX = 2 * pi / N
DT = 2e-3
NU = 0.08
SWEEP = [0.08, 0.05, 0.03]
