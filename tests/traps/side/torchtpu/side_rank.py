"""Scores of a few documents that live beside the trap; side_rank(N) refines them N times."""

import torch


@torch.compile
def refined(links, scores):
    return 0.85 * (links @ scores) + 0.015


def side_rank(turns):
    links = torch.eye(9).to("tpu")
    scores = torch.ones(9, 1).to("tpu")
    for _ in range(turns):
        scores = refined(links, scores)
