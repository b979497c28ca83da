"""TorchTPU without torch.compile: rows of ids as long as the longest of them are looked up in a table."""
import torch
from torch import nn

place = torch.device("tpu")
LENGTHS = (5, 8, 6, 9, 7, 11, 10, 12, 4, 13)


def main():
    torch.manual_seed(3)
    table = nn.Embedding(30, 6).to(place)
    tuner = torch.optim.SGD(table.parameters(), lr=0.1)
    for length in LENGTHS:
        ids = torch.randint(0, 30, (4, length))
        found = table(ids.to(place))
        cost = (found * found).sum(1).mean()
        tuner.zero_grad()
        cost.backward()
        tuner.step()
        print(length, round(cost.item(), 3))


main()
