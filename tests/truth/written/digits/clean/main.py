"""Classifies strokes on an XLA device."""
import argparse
import logging
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl

import data

log = logging.getLogger("digits")


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.conv = nn.Conv2d(1, width, 3, padding=1)
        self.norm = nn.GroupNorm(2, width)
        self.head = nn.Linear(width * 16, 4)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        return self.head(F.max_pool2d(x, 2).flatten(1))


class Meter:
    def __init__(self, every):
        self.every, self.seen = every, 0

    def watch(self, net, loss):
        self.seen += 1
        size = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        self.kept = torch.stack([loss.detach(), size])

    def say(self):
        loss, size = self.kept.tolist()
        log.info("batch %d loss %.3f gradient %.3f", self.seen, loss, size)


class Trainer:
    def __init__(self, args):
        self.device = xm.xla_device()
        torch.manual_seed(0)
        self.net = Net().to(self.device)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=args.rate)
        self.meter = Meter(args.report)

    def epoch(self, loader):
        self.net.train()
        for images, labels in pl.MpDeviceLoader(loader, self.device):
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.net(images), labels)
            loss.backward()
            self.optimizer.step()
            self.meter.watch(self.net, loss)
        return loss

    @torch.no_grad()
    def accuracy(self, loader):
        self.net.eval()
        hits = count = 0
        for images, labels in pl.MpDeviceLoader(loader, self.device):
            hits += (self.net(images).argmax(1) == labels).sum().item()
            count += len(labels)
        return hits / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=130)
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--report", type=int, default=12)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s", force=True)
    train, test = data.loaders(args.count, args.size)
    trainer = Trainer(args)
    for number in range(args.epochs):
        trainer.epoch(train)
        trainer.meter.say()
        log.info("epoch %d: %.2f", number, trainer.accuracy(test))


if __name__ == "__main__":
    main()
