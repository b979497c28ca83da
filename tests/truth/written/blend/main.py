"""Learns from labelled and relabelled batches (TorchTPU)."""
import argparse
import functools

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_tpu

from examples import Source


def on(device):
    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(self, batch, *rest):
            return fn(self, {name: value.to(device) for name, value in batch.items()}, *rest)
        return wrapper
    return decorate


class Head(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.out = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.out(self.body(x))


@torch.compile
def objective(model, batch):
    each = F.cross_entropy(model(batch["x"]), batch["label"], reduction="none")
    if "sure" in batch:
        each = each * batch["sure"]
    return each.mean()


class Learner:
    def __init__(self, model, rate):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)

    @on("tpu")
    def learn(self, batch):
        self.optimizer.zero_grad()
        loss = objective(self.model, batch)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--relabel-from", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(0)
    source = Source(args.size, 6, 3, args.relabel_from)
    learner = Learner(Head(6, 16, 3).to("tpu"), 0.05)
    losses = [learner.learn(batch) for batch in source.take(args.steps)]
    print(" ".join(f"{loss:.2f}" for loss in torch.stack(losses).tolist()))


if __name__ == "__main__":
    main()
