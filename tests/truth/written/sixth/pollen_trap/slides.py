"""Slides from a seven-day Burkard trap, as strips of colour features."""
import random

import torch

CHANNELS = 3
MAX_STRIP = 24
SPECIES = 4


class SlideStream:
    def __init__(self, per_slide, seed):
        self.per_slide = per_slide
        self.rng = random.Random(seed)
        self.gen = torch.Generator().manual_seed(seed)

    def strip(self):
        n = self.rng.choice((12, 14, 16, 18, 20))
        return torch.randn(n, CHANNELS, generator=self.gen)

    def slides(self, n):
        for _ in range(n):
            strips = [self.strip() for _ in range(self.per_slide)]
            counts = torch.randint(0, 9, (self.per_slide, SPECIES), generator=self.gen)
            yield pack(strips), counts.float()


def pack(strips):
    """Zero-padded (batch, width, channel) tensor and its mask."""
    width = max(s.shape[0] for s in strips)
    out = torch.zeros(len(strips), width, CHANNELS)
    mask = torch.zeros(out.shape[:2])
    for i, s in enumerate(strips):
        out[i, : s.shape[0]] = s
        mask[i, : s.shape[0]] = 1.0
    return out, mask
