import numpy as np
import optax
from flax import nnx

from policy import Actor, Cooler, reinforce
from table import Table

table = Table(seed=14)
pick_rng = np.random.default_rng(1)
actor = Actor(16, 1.0, nnx.Rngs(0))
opt = nnx.Optimizer(actor, optax.sgd(0.05), wrt=nnx.Param)
cooler = Cooler(actor, "heat", rate=0.8, every=4)
baseline = np.float32(0)
for t in range(18):
    trick = table.trick(lambda n: int(pick_rng.integers(n)))
    loss, baseline = reinforce(actor, opt, trick, baseline)
    cooler(t)
    if t % 3 == 0:
        print(f"trick {t:2d} loss {float(loss):+.4f} baseline {float(baseline):+.3f}")
