import jax
import numpy as np


class Hook:
    def wants(self, trainer):
        return False

    def after(self, trainer, loss, extras):
        pass


class Ledger(Hook):
    def __init__(self):
        self.losses = []

    def after(self, trainer, loss, extras):
        self.losses.append(loss)


class MotifProbe(Hook):
    def __init__(self, every):
        self.every = every
        self.maps = []

    def wants(self, trainer):
        return trainer.step % self.every == self.every - 1

    def after(self, trainer, loss, extras):
        if "intermediates" in extras:
            leaf = jax.tree.leaves(extras["intermediates"])[0]
            self.maps.append(float(np.asarray(leaf).max()))
