# trap: python-loop
# recompiles: 2
# fix: loop
"""A compiled solver refines its answer in a Python loop of varying length."""

import torch
import torch.nn as nn

SIZE = 12  # size: 8..24 by 4
FIRST = 2  # size: 2 3 4


@torch.compile(dynamic=False)
def refine(matrix, target, guess, rounds):
    for _ in range(rounds):
        residual = target - matrix @ guess  # origin
        guess = guess + 0.1 * torch.tanh(residual)  # origin
    return guess


def main():
    torch.manual_seed(0)
    matrix = torch.eye(SIZE).to("tpu")
    guess = torch.zeros(SIZE, 1).to("tpu")
    for rounds in [FIRST, FIRST, FIRST + 2, FIRST, FIRST + 5]:
        guess = refine(matrix, torch.randn(SIZE, 1).to("tpu"), guess, rounds)
    print("largest", guess.cpu().max().item())


if __name__ == "__main__":
    main()
