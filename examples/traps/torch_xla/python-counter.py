# trap: python-counter
# recompiles: 6
# fix: register_buffer
"""A module counts its calls in a Python int: its noise fades with a power of a learned decay."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(WIDTH, WIDTH)
        self.decay = nn.Parameter(torch.tensor(0.9))
        self.calls = 2

    def forward(self, x, noise):
        self.calls += 1
        return torch.tanh(self.inner(x + noise * self.decay**self.calls))  # origin


def main():
    torch.manual_seed(0)
    model = Noisy().to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for step in range(7):
            x, noise = torch.randn(2, BATCH, WIDTH).to("xla")
            score = model(x, noise).mean()
            torch_xla.sync()  # trigger
    print("score", score.item())


if __name__ == "__main__":
    main()
