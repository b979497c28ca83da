from dataclasses import dataclass, field

import numpy as np

from features import featurize

SPEEDS = (0.9, 1.0, 1.1)


@dataclass
class Utterance:
    wave: np.ndarray
    label: int


@dataclass
class Corpus:
    n: int = 42
    n_classes: int = 4
    seed: int = 0
    items: list = field(default_factory=list)

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        t = np.arange(4000) / 8000.0
        for i in range(self.n):
            label = int(rng.integers(self.n_classes))
            f0 = 200.0 * (label + 1)
            wave = np.sin(2 * np.pi * f0 * t) + 0.1 * rng.standard_normal(t.size)
            self.items.append(Utterance(wave.astype(np.float32), label))

    def __len__(self):
        return len(self.items)


class Loader:
    """Shuffles, perturbs the speed and turns waves into log-spectra."""

    def __init__(self, corpus, batch_size, seed=1, augment=True):
        self.corpus = corpus
        self.batch_size = batch_size
        self.rng = np.random.default_rng(seed)
        self.augment = augment
        self.served = 0

    def __iter__(self):
        order = self.rng.permutation(len(self.corpus))
        pending = []
        for idx in order:
            pending.append(self.corpus.items[idx])
            if len(pending) == self.batch_size:
                yield self.collate(pending)
                pending = []

    def collate(self, utts):
        speed = SPEEDS[self.rng.integers(len(SPEEDS))] if self.augment else 1.0
        feats = [featurize(u.wave, speed) for u in utts]
        labels = np.array([u.label for u in utts], np.int32)
        self.served += len(utts)
        return np.stack(feats), labels
