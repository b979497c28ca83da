"""Synthetic reef soundscapes: snapping shrimp, fish chorus, boat noise."""
from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, Dataset


@dataclass
class DataConfig:
    n_clips: int = 76
    n_samples: int = 256
    batch_size: int = 16
    sample_rate: int = 4000
    seed: int = 3


class ReefClips(Dataset):
    CLASSES = ("shrimp", "chorus", "boat")

    def __init__(self, cfg: DataConfig):
        g = torch.Generator().manual_seed(cfg.seed)
        t = torch.arange(cfg.n_samples) / cfg.sample_rate
        self.labels = torch.randint(0, len(self.CLASSES), (cfg.n_clips,), generator=g)
        base = torch.tensor([1400.0, 420.0, 90.0])
        jitter = 1 + 0.1 * torch.randn(cfg.n_clips, 1, generator=g)
        wave = torch.sin(2 * torch.pi * base[self.labels][:, None] * jitter * t[None])
        self.waves = wave + 0.3 * torch.randn(cfg.n_clips, cfg.n_samples, generator=g)

    def __len__(self):
        return self.waves.shape[0]

    def __getitem__(self, i):
        return self.waves[i], self.labels[i]


def collate(items):
    waves, labels = zip(*items)
    waves = torch.stack(waves)
    # every clip is peak-normalised; clips have a fixed length already
    waves = waves / waves.abs().amax(dim=1, keepdim=True)
    return waves, torch.stack(labels)


def loader(cfg: DataConfig):
    g = torch.Generator().manual_seed(cfg.seed + 1)
    return DataLoader(
        ReefClips(cfg),
        batch_size=cfg.batch_size,
        shuffle=True,
        drop_last=True,
        collate_fn=collate,
        generator=g,
    )
