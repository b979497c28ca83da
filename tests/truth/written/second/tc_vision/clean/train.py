import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(F.relu(self.conv(x)).mean((2, 3)))


class Data:
    size = 8

    def batch(self):
        g = torch.Generator().manual_seed(self.size)
        return torch.randn(4, 3, self.size, self.size, generator=g), torch.randint(0, 4, (4,), generator=g)


class Hooks(list):
    def fire(self, *args):
        for h in self:
            h(*args)


def grow(trainer, epoch):
    trainer.data.size = 12


class Trainer:
    def __init__(self):
        self.net = Net()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.data = Data()
        self.hooks = Hooks([grow])
        self.loss = torch.compile(self.loss_of, backend="aot_eager", dynamic=False)

    def loss_of(self, x, y):
        return F.cross_entropy(self.net(x), y)

    def check(self):
        with torch.enable_grad():
            return self.loss(*self.data.batch())

    def run(self):
        for epoch in range(3):
            self.hooks.fire(self, epoch)
            for _ in range(4):
                self.opt.zero_grad()
                self.loss(*self.data.batch()).backward()
                self.opt.step()
        self.check()


Trainer().run()
