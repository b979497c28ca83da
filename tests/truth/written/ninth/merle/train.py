import argparse
import logging

import torch
import torch_xla
from torch import nn

from augment import Mixer, Planner
from songs import SongBook

log = logging.getLogger("merle")


class SpecNet(nn.Module):
    def __init__(self, bins, classes, width=16):
        super().__init__()
        self.front = nn.Conv1d(bins, width, 5, padding=2)
        self.mid = nn.Conv1d(width, width, 3, padding=1, groups=4)
        self.head = nn.Linear(width, classes)

    def forward(self, spec):
        h = torch.relu(self.front(spec))
        h = torch.relu(self.mid(h)) + h
        return self.head(h.mean(-1))


def blank(spec, plan):
    spec = spec * plan.gain
    for lo, hi in plan.spans:
        spec[:, :, lo:hi] = 0.0
    return spec


def soft_ce(logits, target):
    return -(target * logits.log_softmax(-1)).sum(-1).mean()


class Session:
    def __init__(self, opts):
        self.opts = opts
        self.device = torch_xla.device()
        self.book = SongBook()
        self.net = SpecNet(self.book.bins, len(self.book.species)).to(self.device)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=opts.lr)
        self.planner, self.mixer = Planner(self.book.frames), Mixer()

    def feed(self):
        for _ in range(self.opts.steps):
            x, y = self.mixer(*self.book.batch(self.opts.batch))
            yield torch.from_numpy(x), torch.from_numpy(y), self.planner.draw()

    def fit(self):
        curve = []
        for x, y, plan in self.feed():
            x, y = x.to(self.device), y.to(self.device)
            loss = soft_ce(self.net(blank(x, plan)), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            torch_xla.sync()
            curve.append(loss.detach())
        return curve


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=12)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--lr", type=float, default=1e-2)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(4)
    for i, v in enumerate(Session(ap.parse_args()).fit()):
        print(f"{i:2d} {v.item():.4f}")
