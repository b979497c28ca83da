"""A maker and a judge play against each other (PyTorch/XLA)."""
import argparse
import contextlib

import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm

from nets import Pair


def rings(device, size, seed):
    g = torch.Generator().manual_seed(seed)
    while True:
        angle = torch.rand(size, generator=g) * 6.283
        radius = 0.5 + 0.3 * torch.randint(0, 2, (size,), generator=g)
        yield torch.stack([radius * angle.cos(), radius * angle.sin()], 1).to(device)


class Side:
    def __init__(self, module, rate):
        self.module = module
        self.optimizer = torch.optim.SGD(module.parameters(), lr=rate)

    @contextlib.contextmanager
    def turn(self):
        self.optimizer.zero_grad()
        yield
        self.optimizer.step()


class Game:
    def __init__(self, pair, device, rate, margin):
        self.pair, self.device, self.margin = pair, device, margin
        self.maker, self.judge = Side(pair.maker, rate), Side(pair.judge, rate)

    def forge(self, size, g):
        return self.pair.maker(torch.randn(size, self.pair.noise, generator=g).to(self.device))

    def strong(self, score):
        return score < self.margin

    def play(self, real, g):
        fake = self.forge(len(real), g)
        yes, no = self.pair.judge(real), self.pair.judge(fake.detach())
        score = F.softplus(-yes).mean() + F.softplus(no).mean()
        if not self.strong(score):
            with self.judge.turn():
                score.backward()
        with self.maker.turn():
            F.softplus(-self.pair.judge(fake)).mean().backward()
        xm.mark_step()
        return score.detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--margin", type=float, default=1.395)
    args = parser.parse_args()
    torch.manual_seed(1)
    device = xm.xla_device()
    pair = Pair(4, 2).to(device)
    game = Game(pair, device, 0.02, args.margin)
    g = torch.Generator().manual_seed(3)
    scores = []
    for number, real in zip(range(args.rounds), rings(device, args.size, 0)):
        scores.append(game.play(real, g))
    print(" ".join(f"{float(s):.2f}" for s in scores))


if __name__ == "__main__":
    main()
