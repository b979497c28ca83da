import random
import torch
from torch import nn
import torch_xla
import torch_xla.core.xla_model as xm

random.seed(0)
dev = torch_xla.device()


def sentence():
    return [random.randrange(1, 20) for _ in range(random.randrange(3, 9))]


class Batches:
    def __init__(self, n, size):
        self.n, self.size = n, size

    def pad(self, rows):
        width = max(len(r) for r in rows)
        return torch.tensor([r + [0] * (width - len(r)) for r in rows])

    def __iter__(self):
        for _ in range(self.n):
            yield self.pad([sentence() for _ in range(self.size)])


class Meter:
    def log(self, step, loss):
        self.last = loss.item()


def train():
    net = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20)).to(dev)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    meter = Meter()
    for step, ids in enumerate(Batches(14, 3)):
        ids = ids.to(dev)
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        opt.step()
        xm.mark_step()
        meter.log(step, loss * 2)


train()
