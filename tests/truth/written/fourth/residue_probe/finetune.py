"""Secondary-structure probe on top of a (toy) pretrained residue encoder."""
import torch
from torch import nn

import callbacks as cb

AA, CLASSES, LENGTH = 20, 3, 40


def pad_same(k):
    return dict(kernel_size=k, padding=k // 2)


class ResidueNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv1d(AA, width, **pad_same(5)), nn.GELU(),
            nn.Conv1d(width, width, **pad_same(7)), nn.GELU(),
        )
        self.head = nn.Conv1d(width, CLASSES, 1)

    def forward(self, onehot):
        return self.head(self.trunk(onehot))


class Chains:
    """Random chains; the label of a residue depends on its neighbourhood."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        ids = torch.randint(0, AA, (n, LENGTH), generator=g)
        self.x = nn.functional.one_hot(ids, AA).transpose(1, 2).float().contiguous()
        self.y = (ids + ids.roll(1, 1) + ids.roll(-1, 1)) % CLASSES

    def batches(self, size, g):
        for idx in torch.randperm(len(self.x), generator=g).split(size):
            yield self.x[idx], self.y[idx]


class Trainer:
    def __init__(self, net, lr=0.05, hooks=()):
        self.net, self.hooks, self.lr = net, list(hooks), lr
        self.fast = torch.compile(net, backend="aot_eager")
        self.opt = torch.optim.SGD(
            [{"params": net.trunk.parameters(), "part": "trunk"}, {"params": net.head.parameters(), "part": "head"}],
            lr=lr, momentum=0.9)
        self.lossfn = nn.CrossEntropyLoss()

    def emit(self, what, *a):
        for h in self.hooks:
            getattr(h, what)(self, *a)

    def fit(self, data, epochs, size):
        g = torch.Generator().manual_seed(5)
        self.emit("on_fit_start")
        for epoch in range(epochs):
            self.emit("on_epoch_start", epoch)
            for x, y in data.batches(size, g):
                loss = self.lossfn(self.fast(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.emit("on_batch_end", loss.item())
            self.emit("on_epoch_end", epoch)


if __name__ == "__main__":
    torch.manual_seed(12)
    held = Chains(16, seed=2)
    smooth, hold = cb.Smooth(), cb.HoldOut(held.x, held.y)
    keeper = cb.BestKeeper(hold)
    Trainer(ResidueNet(), hooks=[cb.GradualUnfreeze(at=4), smooth, hold, keeper]).fit(Chains(96, seed=1), epochs=7, size=16)
    print(f"smoothed loss {smooth.value:.3f}, best held-out {keeper.best:.3f}")
