import jax
import numpy as np

from phase import Phaser, attach_panel, em_round, switch_errors
from reads import Flowcell

flow = Flowcell(sites=30, seed=19)
panel = (0.3 * (2 * flow.truth - 1) + np.random.default_rng(1).normal(0, 0.3, 30)).astype(np.float32)
phaser = Phaser(0.1 * jax.random.normal(jax.random.key(2), (30,)), panel=jax.numpy.zeros(30))
attached = False
truth = flow.truth.astype(np.int32)

for lane in range(6):
    flow.sequence()
    pile = flow.so_far()
    for _ in range(3):
        phaser, support = em_round(phaser, pile)
        support = float(support)
        if support > 0.6 and not attached:
            phaser = attach_panel(phaser, panel)
            attached = True
    print(f"lane {lane} reads {int(pile.seen.max(1).sum())} support {support:.3f} switches {int(switch_errors(phaser.logit, truth))}")
