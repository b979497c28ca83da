import numpy as np
import optax
from flax import nnx

from listen import EarBank, Whitener, absorb, whiten

DIVES = "snap snap grunt snap grunt snap drum grunt snap drum snap grunt scrape drum".split()
PITCH = {"snap": 18, "grunt": 4, "drum": 9, "scrape": 14}


def recordings(seed, bins=24, frames=10):
    rng = np.random.default_rng(seed)
    for tag in DIVES:
        bump = np.exp(-((np.arange(bins) - PITCH[tag]) / 2.0) ** 2)
        yield tag, (bump + 0.3 * rng.normal(size=(frames, bins))).astype(np.float32)


class Survey:
    tx = optax.sgd(0.1)
    most = 6

    def __init__(self, bins=24):
        self.whitener = Whitener(bins)
        self.bank = EarBank(bins, 16, nnx.Rngs(9))
        self.catalogue = {}
        self.heard = 0

    def _species(self, tag):
        if tag not in self.catalogue:
            self.catalogue[tag] = len(self.catalogue)
            self.bank.grow()
            self.opt = nnx.Optimizer(self.bank, self.tx, wrt=nnx.Param)
        return np.int32(self.catalogue[tag])

    def dive(self, tag, spec):
        species = self._species(tag)
        x = whiten(self.whitener, spec)
        self.heard += len(spec)
        return float(absorb(self.bank, self.opt, x, species))
