"""Fine-tunes the head of a small network on pictures; the body joins in at the end."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

import settings


class Network(nn.Module):
    def __init__(self, width=8, classes=3):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.head = nn.Linear(width * 16, classes)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def brighten(x):
    return x.clamp(0, 1) ** settings.CURRENT["gamma"]


def objective(net, images, labels):
    return F.cross_entropy(net(brighten(images)), labels)


class Schedule:
    def __init__(self, net, thaw_at):
        self.net, self.thaw_at = net, thaw_at
        self.rates = torch.tensor(0.0)

    def begin(self, epoch):
        if epoch == self.thaw_at:
            self.rates.fill_(1.0)


def pictures(count, size, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(count):
        labels = torch.randint(0, 3, (size,), generator=g)
        yield torch.rand(size, 1, 8, 8, generator=g) * (1 + labels[:, None, None, None]), labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--ramp", type=int, default=3)
    parser.add_argument("--backend", default="aot_eager")
    args = parser.parse_args()
    torch.manual_seed(0)
    net = Network()
    schedule = Schedule(net, args.epochs - 1)
    ramp = settings.Ramp(1.0, 1.6, args.ramp)
    compiled = torch.compile(objective, backend=args.backend)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        schedule.begin(epoch)
        ramp.apply(epoch)
        for images, labels in pictures(3, 8, epoch):
            loss = compiled(net, images, labels)
            optimizer.zero_grad()
            loss.backward()
            for p in net.body.parameters():
                p.grad *= schedule.rates
            optimizer.step()
        print(epoch, f"{loss.item():.3f}")


if __name__ == "__main__":
    main()
