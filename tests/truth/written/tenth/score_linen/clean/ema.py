import jax
import numpy as np


@jax.jit
def blend(shadow, fresh, decay):
    return jax.tree.map(lambda s, f: s * decay + f * (1.0 - decay), shadow, fresh)


class ExponentialMovingAverage:
    def __init__(self, params, max_decay=0.55, use_num_updates=True):
        self.max_decay = max_decay
        self.num_updates = 0 if use_num_updates else None
        self.shadow = params

    def update(self, params):
        decay = self.max_decay
        if self.num_updates is not None:
            self.num_updates += 1
            decay = min(decay, (1 + self.num_updates) / (10 + self.num_updates))
        self.shadow = blend(self.shadow, params, np.float32(decay))
