"""Assigns each tessera of a damaged mosaic to one of a few stone kinds."""
from dataclasses import dataclass

import torch
import torch_xla
from torch import nn

from losses import FocalLoss, NoiseLevel

STONES = 4


@dataclass
class Plan:
    cycles: int = 5
    micro_batches: int = 3
    tiles: int = 20
    features: int = 6
    lr: float = 0.05


class Workshop:
    """Makes up mosaics: features on the host, then over to the device."""

    def __init__(self, plan, noise, device):
        self.plan, self.noise, self.device = plan, noise, device
        self.gen = torch.Generator().manual_seed(31)
        self.centres = torch.randn(STONES, plan.features, generator=self.gen)

    def batch(self):
        kind = torch.randint(0, STONES, (self.plan.tiles,), generator=self.gen)
        jitter = torch.randn(self.plan.tiles, self.plan.features, generator=self.gen)
        x = self.centres[kind] + self.noise.level * jitter
        return x.to(self.device), kind.to(self.device)


class Restorer:
    def __init__(self, plan, device):
        self.plan = plan
        self.net = nn.Sequential(nn.Linear(plan.features, 10), nn.ReLU(), nn.Linear(10, STONES)).to(device)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=plan.lr)
        self.loss = FocalLoss()
        self.noise = NoiseLevel()
        self.shop = Workshop(plan, self.noise, device)
        self.trace = []

    def micro(self):
        x, kind = self.shop.batch()
        loss = self.loss(self.net(x), kind) / self.plan.micro_batches
        loss.backward()
        torch_xla.sync()
        return loss.detach()

    def cycle(self):
        parts = [self.micro() for _ in range(self.plan.micro_batches)]
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)
        torch_xla.sync()
        self.trace.append(parts)
        for curriculum in (self.loss, self.noise):
            curriculum.advance()


def main():
    torch.manual_seed(7)
    plan = Plan()
    restorer = Restorer(plan, torch_xla.device())
    torch_xla.sync()
    for _ in range(plan.cycles):
        restorer.cycle()
    for i, parts in enumerate(restorer.trace):
        print(f"cycle {i}: focal loss {sum(p.item() for p in parts):.4f}")


if __name__ == "__main__":
    main()
