"""Replays a season of axle-box accelerometer data and forecasts flange wear."""
import torch
import torch_xla
from torch import nn

from memory import Memory

WINDOW = 6
STRIDE = 3
SENSORS = 4
DIM = 8
STEPS = 9


class WearNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(WINDOW * SENSORS, DIM)
        self.val = nn.Linear(WINDOW * SENSORS, DIM)
        self.out = nn.Linear(2 * DIM, 1)

    def forward(self, chunk, memory):
        flat = chunk.reshape(-1)
        key, value = torch.tanh(self.enc(flat)), self.val(flat)
        past = memory.read(key)
        memory.push(key, value)
        return self.out(torch.cat([value, past]))[0]


class Season:
    """The whole log lives on the device; windows are cut out of it."""

    def __init__(self, device, seed=12):
        gen = torch.Generator().manual_seed(seed)
        n = WINDOW + STRIDE * STEPS
        t = torch.linspace(0, 6, n)[:, None]
        log = torch.sin(t + torch.arange(SENSORS)) + 0.1 * torch.randn(n, SENSORS, generator=gen)
        self.log = log.to(device)

    def window(self, start):
        return self.log[start : start + WINDOW]

    def windows(self):
        for i in range(STEPS):
            yield i, self.window(i * STRIDE)


class Forecaster:
    def __init__(self, device):
        self.net = WearNet().to(device).requires_grad_(False)
        self.memory = Memory(DIM, device)
        self.total = torch.zeros((), device=device)
        self.steps = 0

    def observe(self, chunk):
        wear = self.net(chunk, self.memory)
        self.total = self.total + wear.abs()
        self.steps += 1
        return wear


def main():
    torch.manual_seed(3)
    device = torch_xla.device()
    season = Season(device)
    model = Forecaster(device)
    torch_xla.sync()
    forecasts = []
    for i, chunk in season.windows():
        forecasts.append(model.observe(chunk))
        torch_xla.sync()
    print("wear per window:", [round(f.item(), 3) for f in forecasts])
    print("total", round(model.total.item(), 3), "over", model.steps)


if __name__ == "__main__":
    main()
