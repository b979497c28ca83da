# trap: varlen
# recompiles: 2
# fix: pad
"""Sequences are packed end to end without padding: every batch has its own total length."""

import itertools

import torch

WIDTH = 16  # size: 8 16 24
SHORTEST = 4  # size: 3 4 6


@torch.compile(dynamic=False)
def packed_attention(weights, packed, offsets):
    queries = packed @ weights  # origin
    place = torch.arange(packed.shape[0], device="tpu")
    segment = (place[:, None] >= offsets).sum(1)
    scores = queries @ packed.transpose(0, 1) / 4.0
    scores = scores.masked_fill(segment[:, None] != segment, -1e9)
    return torch.softmax(scores, -1) @ packed


def main():
    torch.manual_seed(0)
    weights = torch.randn(WIDTH, WIDTH).to("tpu")
    for lengths in [[4, 7, 5], [4, 7, 5], [6, 3], [4, 7, 5], [5, 5, 5, 5]]:
        lengths = [length + SHORTEST for length in lengths]
        offsets = torch.tensor([0, *itertools.accumulate(lengths)])
        packed = torch.randn(sum(lengths), WIDTH)
        out = packed_attention(weights, packed.to("tpu"), offsets.to("tpu"))  # trigger
    print("mean", out.cpu().mean().item())


if __name__ == "__main__":
    main()
