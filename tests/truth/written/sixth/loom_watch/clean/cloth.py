import torch


class Bolt:
    """Synthetic weave patches; a defect is a missing pick (a dark row)."""

    def __init__(self, samples, batch, side=6, seed=14):
        g = torch.Generator().manual_seed(seed)
        base = ((torch.arange(side)[:, None] + torch.arange(side)[None]) % 2).float()
        self.x = base + 0.1 * torch.randn(samples, side, side, generator=g)
        self.y = (torch.rand(samples, generator=g) < 0.4).float()
        rows = torch.randint(0, side, (samples,), generator=g)
        for i in torch.nonzero(self.y)[:, 0].tolist():
            self.x[i, rows[i]] *= 0.1
        self.batch = batch
        self.gen = g

    def batches(self):
        order = torch.randperm(len(self.x), generator=self.gen)
        for lo in range(0, len(order) - self.batch + 1, self.batch):
            ids = order[lo : lo + self.batch]
            yield self.x[ids], self.y[ids]
