"""TorchTPU without torch.compile: one line uses layers of two widths, and numbers and tensors in one product."""
import torch
from torch import nn

place = torch.device("tpu")


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(9, 14), nn.Linear(14, 14)
        self.low, self.high = nn.Linear(14, 4), nn.Linear(14, 4)

    def forward(self, x):
        x = self.second(self.first(x).relu())
        return self.low(x), self.high(x).tanh()


def spread(low, high, goal):
    return 0.25 * (high + (goal - low) * torch.exp(high))


def main():
    torch.manual_seed(2)
    pair = Pair().to(place)
    tuner = torch.optim.SGD(pair.parameters(), lr=0.01)
    for turn in range(9):
        x, goal = torch.randn(6, 9).to(place), torch.randn(6, 4).to(place)
        tuner.zero_grad()
        cost = spread(*pair(x), goal).abs().mean()
        cost.backward()
        tuner.step()
        print(turn, round(cost.item(), 3))


main()
