import os
import argparse
from contextlib import contextmanager

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")

import torch
import torch.nn.functional as F

import augment
from nets import Inspector, Loom


@contextmanager
def muted(net):
    params = [p for p in net.parameters() if p.requires_grad]
    for p in params:
        p.requires_grad_(False)
    try:
        yield net
    finally:
        for p in params:
            p.requires_grad_(True)


class OverfitGauge:
    """Adaptive augmentation after Karras et al."""

    def __init__(self, every=4, target=0.1, rate=0.05):
        self.every, self.target, self.rate = every, target, rate
        self.signs = []

    def observe(self, step, real_logits):
        self.signs.append(real_logits.detach().sign().mean())
        if step % self.every == 0:
            r = torch.stack(self.signs).mean().item()
            self.signs.clear()
            direction = 1.0 if r > self.target else -0.5
            level = augment.STRENGTH + direction * self.rate
            augment.STRENGTH = min(max(level, 0.01), augment.CEILING)


class Duel:
    def __init__(self, args):
        self.args = args
        self.loom = Loom()
        self.inspector = torch.compile(Inspector())
        self.opt_g = torch.optim.Adam(self.loom.parameters(), lr=args.lr, betas=(0.5, 0.99))
        self.opt_d = torch.optim.Adam(self.inspector.parameters(), lr=args.lr, betas=(0.5, 0.99))
        self.gauge = OverfitGauge()

    def inspector_turn(self, real, z):
        fake = self.loom(z).detach()
        on_real = self.inspector(real)
        on_fake = self.inspector(fake)
        loss = F.softplus(-on_real).mean() + F.softplus(on_fake).mean()
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return loss.detach(), on_real

    def loom_turn(self, z):
        with muted(self.inspector) as judge:
            loss = F.softplus(-judge(self.loom(z))).mean()
            self.opt_g.zero_grad()
            loss.backward()
        self.opt_g.step()
        return loss.detach()


def cloths(n, gen):
    phase = torch.rand(n, 1, generator=gen) * 6.28
    t = torch.linspace(0, 6.28, 16)
    return torch.sin(t + phase) * 0.8


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=14)
    ap.add_argument("--batch", type=int, default=12)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(5)
    duel = Duel(args)
    for step in range(1, args.steps + 1):
        real = cloths(args.batch, gen)
        z = torch.randn(args.batch, 6, generator=gen)
        d_loss, on_real = duel.inspector_turn(real, z)
        duel.gauge.observe(step, on_real)
        g_loss = duel.loom_turn(torch.randn(args.batch, 6, generator=gen))
        print(f"step {step:2d} d={d_loss:.4f} g={g_loss:.4f}")


if __name__ == "__main__":
    main()
