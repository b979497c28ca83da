# trap: python-loop
# recompiles: 2
# fix: loop
"""A solver refines its answer in a Python loop whose number of rounds depends on the request."""

import torch
import torch.nn as nn
import torch_xla

SIZE = 12  # size: 8..24 by 4
FIRST = 2  # size: 2 3 4


def main():
    torch.manual_seed(0)
    matrix = torch.eye(SIZE).to("xla")
    guess = torch.zeros(SIZE).to("xla")
    torch_xla.sync()
    for rounds in [FIRST, FIRST, FIRST + 2, FIRST, FIRST + 5, FIRST + 2]:
        target = torch.randn(SIZE).to("xla")
        for _ in range(rounds):
            guess = guess + 0.1 * torch.tanh(target - matrix @ guess)
        torch_xla.sync()  # trigger
    print("guess", guess.norm().item())


if __name__ == "__main__":
    main()
