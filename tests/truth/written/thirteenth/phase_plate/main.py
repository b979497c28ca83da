import numpy as np

from propagate import Grid
from retrieve import Retrieval

job = Retrieval(Grid(), 633e-9, planes=[2e-3, 5e-3, 9e-3], seed=3)
history = {}
for it, (plane, fit) in enumerate(job.iterate(14)):
    history.setdefault(plane, []).append(fit)
    print(f"iter {it:2d} plane {plane} misfit {fit:.5f}")
print({p: round(float(np.min(f)), 5) for p, f in history.items()})
