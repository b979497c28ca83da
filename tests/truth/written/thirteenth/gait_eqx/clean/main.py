import equinox as eqx
import jax
import numpy as np

from safety import SafetyNet
from terrain import Terrain
from walker import Brain, improve, tx

key = jax.random.key(17)
brain = Brain(key)
opt = tx.init(eqx.filter(brain, eqx.is_inexact_array))
terrain = Terrain(4)
net = SafetyNet(every=4, limit=0.34)
for it, slope in terrain.slopes(16):
    brain, opt, cost = improve(brain, opt, slope, np.int32(terrain.ticks), terrain.longest, jax.random.fold_in(key, it))
    brain = net.judge(brain, it, slope)
    print(f"{it:2d} ticks {terrain.ticks} cost {float(cost):.4f} falls {net.falls}")
