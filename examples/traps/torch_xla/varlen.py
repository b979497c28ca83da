# trap: varlen
# recompiles: 3
# fix: pad
"""Sequences are packed end to end without padding: every batch has its own total length."""

import torch
import torch.nn as nn
import torch_xla

WIDTH = 16  # size: 8 16 24
SHORTEST = 4  # size: 3 4 6


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)

    def forward(self, packed, offsets):
        place = torch.arange(packed.shape[0], device=packed.device)
        segment = (place[:, None] >= offsets).sum(1)
        scores = self.query(packed) @ self.key(packed).T / 4.0
        scores = scores.masked_fill(segment[:, None] != segment[None, :], -1e9)
        return torch.softmax(scores, -1) @ packed


def main():
    torch.manual_seed(0)
    model = Attention().to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for lengths in [[4, 7, 5], [4, 7, 5], [6, 3], [5, 5, 5, 5], [6, 3], [9, 2, 4]]:
            offsets = torch.cumsum(torch.tensor(lengths) + SHORTEST, 0)
            packed = torch.cat([torch.randn(length + SHORTEST, WIDTH) for length in lengths])
            mixed = model(packed.to("xla"), offsets.to("xla")).mean()  # origin
            torch_xla.sync()  # trigger
    print("mean", mixed.item())


if __name__ == "__main__":
    main()
