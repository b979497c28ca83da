import torch


class CoreStream:
    """Drill-core profiles; a few of them come from disturbed layers."""

    def __init__(self, n, device, depth=14, disturbed=(19, 27)):
        self.n, self.device, self.depth = n, device, depth
        self.disturbed = set(disturbed)

    def __iter__(self):
        g = torch.Generator().manual_seed(55)
        w = torch.randn(self.depth, 2, generator=g) * 0.3
        for i in range(self.n):
            x = torch.randn(10, self.depth, generator=g)
            y = x @ w + 0.05 * torch.randn(10, 2, generator=g)
            if i in self.disturbed:
                y = y * 9.0
            yield x.to(self.device), y.to(self.device)
