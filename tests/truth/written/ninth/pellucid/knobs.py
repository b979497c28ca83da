from dataclasses import dataclass, field
from typing import Callable, List, NamedTuple, Tuple

import torch


@dataclass(frozen=True)
class SampleConfig:
    steps: int = 6
    sigma_max: float = 8.0
    sigma_min: float = 0.05
    rho: float = 5.0
    guidance: float = 3.5
    interval: Tuple[float, float] = (0.2, 1.2)
    batch: int = 4
    clip: float = 4.0


class StepEvent(NamedTuple):
    index: int
    sigma: float
    total: int


@dataclass
class Observers:
    handlers: List[Callable] = field(default_factory=list)

    def add(self, fn):
        self.handlers.append(fn)
        return fn

    def fire(self, event):
        for fn in self.handlers:
            fn(event)


def karras(cfg):
    ramp = torch.linspace(0, 1, cfg.steps)
    lo, hi = cfg.sigma_min ** (1 / cfg.rho), cfg.sigma_max ** (1 / cfg.rho)
    sigmas = (hi + ramp * (lo - hi)) ** cfg.rho
    return torch.cat([sigmas, torch.zeros(1)])
