from itertools import islice

from monitor import HolterMonitor
from signals import ward_patient

mon = HolterMonitor()
for i, seg in enumerate(islice(ward_patient(21), 12)):
    n, q, lvl = mon.push(seg)
    print(f"{i:2d} beats {n} quality {q:.3f} level {lvl:.3f}")
    summary = mon.report()
    if summary:
        print("   ", summary)
