from typing import NamedTuple

import numpy as np


class Pileup(NamedTuple):
    allele: np.ndarray
    seen: np.ndarray
    qual: np.ndarray


class Flowcell:
    def __init__(self, sites, seed, most=72):
        self.most = most
        self.rng = np.random.default_rng(seed)
        self.truth = self.rng.integers(0, 2, sites)
        self.sites = sites
        self.pile = []

    def sequence(self, n=12, span=8):
        allele = np.zeros((n, self.sites), np.float32)
        seen = np.zeros((n, self.sites), np.float32)
        for r in range(n):
            at = self.rng.integers(0, self.sites - span)
            strand = self.rng.integers(0, 2)
            bases = self.truth[at:at + span] ^ strand
            flip = self.rng.random(span) < 0.04
            allele[r, at:at + span] = bases ^ flip
            seen[r, at:at + span] = 1
        lane = Pileup(allele, seen, self.rng.uniform(0.9, 0.99, n).astype(np.float32))
        self.pile.append(lane)
        return lane

    def so_far(self):
        whole = Pileup(*(np.concatenate(col) for col in zip(*self.pile)))
        spare = self.most - len(whole.qual)
        return Pileup(
            np.pad(whole.allele, ((0, spare), (0, 0))),
            np.pad(whole.seen, ((0, spare), (0, 0))),
            np.pad(whole.qual, (0, spare), constant_values=0.5),
        )
