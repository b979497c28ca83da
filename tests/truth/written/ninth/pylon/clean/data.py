from typing import NamedTuple

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Match(NamedTuple):
    hit: torch.Tensor
    box: torch.Tensor


class AerialTiles(Dataset):
    def __init__(self, n, anchors=20, seed=2):
        rng = np.random.default_rng(seed)
        self.feats = rng.standard_normal((n, anchors, 10)).astype(np.float32)
        self.hit = rng.random((n, anchors)) < 0.2
        self.box = (self.feats[..., :4] * 0.7 + 0.1).astype(np.float32)

    def __len__(self):
        return len(self.feats)

    def __getitem__(self, i):
        return self.feats[i], self.hit[i], self.box[i]


def loaders(cfg):
    order = torch.Generator().manual_seed(1)
    train = DataLoader(AerialTiles(cfg["tiles"]), batch_size=cfg["batch"], shuffle=True, generator=order, drop_last=True)
    check = DataLoader(AerialTiles(cfg["batch"], seed=90), batch_size=cfg["batch"])
    return train, check
