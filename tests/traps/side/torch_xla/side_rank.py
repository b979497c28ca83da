"""Scores of a few documents that live beside the trap; side_rank(N) refines them N times."""

import torch
import torch_xla


def side_rank(turns):
    links = torch.eye(9).roll(1, 0).to("xla")
    scores = torch.full((9, 1), 1.0 / 9).to("xla")
    torch_xla.sync()
    with torch.no_grad():
        for _ in range(turns):
            scores = 0.85 * (links @ scores) + 0.15 / 9
            torch_xla.sync()
