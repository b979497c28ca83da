import torch
import torch_xla
from torch import nn

from slides import CHANNELS, SPECIES, SlideStream


class StripNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.inp = nn.Linear(CHANNELS, width)
        self.out = nn.Linear(width, SPECIES)

    def forward(self, x, mask):
        h = torch.tanh(self.inp(x)) * mask[..., None]
        return torch.nn.functional.softplus(self.out(h.sum(1) / mask.sum(1, keepdim=True)))


class SpikeFilter:
    """Drops steps whose loss is far above the running level."""

    def __init__(self, device, factor=6.0):
        self.factor = factor
        self.level = torch.full((), 1e6, device=device)

    def accept(self, value):
        ok = (value < self.factor * self.level).float()
        self.level = torch.where(self.level > 9e5, value, 0.9 * self.level + 0.1 * value)
        return ok


class Counter:
    def __init__(self, device):
        self.device = device
        self.net = StripNet().to(device)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.02)
        self.spikes = SpikeFilter(device)
        self.trail = []

    def step(self, x, mask, counts):
        self.opt.zero_grad(set_to_none=False)
        rate = self.net(x, mask)
        loss = nn.functional.poisson_nll_loss(rate, counts, log_input=False)
        loss.backward()
        ok = self.spikes.accept(loss.detach())
        for p in self.net.parameters():
            p.grad.mul_(ok)
        self.opt.step()
        self.trail.append(loss.detach())
        torch_xla.sync()

    def fit(self, stream, n):
        for (x, mask), counts in stream.slides(n):
            self.step(x.to(self.device), mask.to(self.device), counts.to(self.device))


def main():
    torch.manual_seed(0)
    counter = Counter(torch_xla.device())
    for p in counter.net.parameters():
        p.grad = torch.zeros_like(p)
    torch_xla.sync()
    counter.fit(SlideStream(per_slide=3, seed=6), n=14)
    print("first", round(float(counter.trail[0]), 4), "last", round(float(counter.trail[-1]), 4))


if __name__ == "__main__":
    main()
