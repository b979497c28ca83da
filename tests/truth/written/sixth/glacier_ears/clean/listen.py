"""Listens to a geophone line on a glacier; strong events become new templates."""
from dataclasses import dataclass

import torch
import torch_tpu

torch_tpu._loader._init_device("tpu")

from detector import detect, match

SAMPLES = 32
CAPACITY = 8


@dataclass
class Event:
    hour: int
    strength: torch.Tensor
    likeness: torch.Tensor
    onset: torch.Tensor


def starter_templates():
    t = torch.linspace(0, 1, SAMPLES)
    return torch.stack([torch.sin(2 * torch.pi * f * t) * torch.exp(-4 * t) for f in (3.0, 5.0, 8.0)])


def geophone(hours, seed=23):
    g = torch.Generator().manual_seed(seed)
    t = torch.linspace(0, 1, SAMPLES)
    for hour in range(hours):
        trace = 0.05 * torch.randn(SAMPLES, generator=g)
        quake = hour % 3 == 1
        if quake:
            f = 3.0 + 4.0 * torch.rand((), generator=g)
            trace = trace + torch.sin(2 * torch.pi * f * t) * torch.exp(-4 * t)
        yield hour, trace, quake


class Station:
    def __init__(self, device, starter):
        self.device = device
        bank = torch.zeros(CAPACITY, SAMPLES)
        bank[: len(starter)] = starter
        self.bank = bank.to(device)
        self.used = len(starter)
        self.slots = torch.arange(CAPACITY)
        self.known = (self.slots < self.used).to(device)
        self.taper = torch.hann_window(SAMPLES, periodic=False).to(device)
        self.events = []

    def learn(self, trace):
        here = (self.slots == self.used).to(self.device)
        self.bank = torch.where(here[:, None], trace[None], self.bank)
        self.known = self.known | here
        self.used += 1

    def hear(self, hour, trace, operator_says_quake):
        trace = trace.to(self.device)
        strength, onset = detect(trace, self.taper)
        likeness = match(self.bank, self.known, trace)
        self.events.append(Event(hour, strength, likeness, onset))
        # the night operator labels by ear, so no device value is needed here
        if operator_says_quake:
            self.learn(trace)

    def report(self):
        for e in self.events[::3]:
            print(f"hour {e.hour:2d}: strength {e.strength.item():.2f} likeness {e.likeness.item():.2f} at {4 * e.onset.item()}")


def main():
    station = Station("tpu", starter_templates())
    with torch.no_grad():
        for hour, trace, quake in geophone(12):
            station.hear(hour, trace, quake)
    station.report()


if __name__ == "__main__":
    main()
