# trap: python-counter
# recompiles: 4
# fix: register_buffer
"""A module counts its calls in a Python int and uses the number."""

import torch
import torch.nn as nn

WIDTH = 16  # size: 8..32 by 8
BATCH = 8  # size: 4..16 by 4


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(WIDTH, WIDTH)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return torch.tanh(self.inner(x)) * (self.calls + 3)  # origin


def main():
    torch.manual_seed(0)
    model = torch.compile(Noisy().to("tpu"), dynamic=False)
    with torch.no_grad():
        for step in range(5):
            out = model(torch.randn(BATCH, WIDTH).to("tpu"))
    print("largest", out.cpu().max().item())


if __name__ == "__main__":
    main()
