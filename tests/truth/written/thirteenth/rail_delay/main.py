from fitting import Fitter
from timetable import STATIONS, record, residual

SPAN, STRIDE = 24, 9

delays = record(150, seed=31)
fitter = Fitter(rate=0.05)
params, state = fitter.fresh()
for start in range(0, len(delays) - SPAN, STRIDE):
    chunk = delays[start:start + SPAN]
    params, state, loss = fitter.apply(params, state, chunk[:-1], chunk[1:])
    rate = fitter.observe(float(loss))
    drift = residual(params, delays, start, SPAN)
    worst = int(drift.argmax())
    print(f"t{start:03d} loss {float(loss):.4f} rate {rate:.4f} worst {STATIONS[worst]} {float(drift[worst]):.2f}")
