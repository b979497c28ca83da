import math

import torch


class River:
    """Hourly levels at several stations; sensors drop out now and then."""

    def __init__(self, stations=10, hours=72, seed=6):
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(hours).float()
        phase = torch.rand(stations, 1, generator=g) * 6.28
        level = torch.sin(2 * math.pi * t / 24 + phase) + 0.1 * torch.randn(stations, hours, generator=g)
        gaps = torch.rand(stations, hours, generator=g) < 0.015
        self.level = level.masked_fill(gaps, float("nan"))

    def __len__(self):
        return self.level.shape[1]


class Window:
    def __init__(self, past=12, ahead=3, stride=4):
        self.past, self.ahead, self.stride = past, ahead, stride

    def origins(self, hours):
        yield from range(0, hours - self.past - self.ahead, self.stride)

    def cut(self, level, origin):
        mid = origin + self.past
        return level[:, origin:mid], level[:, mid:mid + self.ahead]
