import torch
from torch import nn

import settings


class ZoneCell(nn.Module):
    """One explicit step of the zone temperatures under burner input u."""

    def __init__(self):
        super().__init__()
        g = torch.Generator().manual_seed(5)
        self.couple = nn.Parameter(0.05 * torch.randn(settings.ZONES, settings.ZONES, generator=g))
        self.inject = nn.Parameter(torch.rand(settings.BURNERS, settings.ZONES, generator=g))
        self.register_buffer("loss_rate", torch.full((settings.ZONES,), 0.03))
        self.ticks = 0

    def forward(self, temp, u):
        # refractory wear: the older the lining, the more heat escapes
        self.ticks += 1
        wear = 1.0 + 0.002 * self.ticks
        flow = temp @ self.couple + u @ self.inject
        return temp + 0.1 * flow - self.loss_rate * wear * (temp - settings.AMBIENT)


class Lining:
    """Book-keeping only; the maintenance report uses it."""

    def __init__(self):
        self.hours = 0
        self.peak = None

    def record(self, temp):
        self.hours += 1
        top = temp.detach().amax()
        self.peak = top if self.peak is None else torch.maximum(self.peak, top)
