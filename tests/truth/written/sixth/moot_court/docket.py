"""Stand-in for the message queue: deterministic jury requests."""
from dataclasses import dataclass

import torch

from aggregate import ABSTAIN

MOTIONS = (
    "tax sugar", "ban homework", "free transit everywhere", "lower the voting age to sixteen",
    "abolish zoos", "four-day week", "mandatory juries", "publish all salaries", "tax robots as workers",
    "no phones", "lotteries instead of elections",
)
JURORS, OUTCOMES = 7, 3


@dataclass
class Request:
    ident: int
    motion: str
    ballots: torch.Tensor
    marks: torch.Tensor
    scores: torch.Tensor
    urgent: bool = False


def make_marks(gen, panels):
    marks = torch.rand(panels, JURORS, generator=gen)
    if panels == 1:
        # small cases have just the one panel
        marks = marks[0]
    return marks


def make_scores(gen):
    scores = torch.rand(JURORS, generator=gen)
    away = torch.rand(JURORS, generator=gen) < 0.25
    return torch.where(away, ABSTAIN, scores)


def queue(n, seed=17):
    gen = torch.Generator().manual_seed(seed)
    for i in range(n):
        small = i % 5 == 3
        yield Request(
            ident=i,
            motion=MOTIONS[i % len(MOTIONS)],
            ballots=torch.randn(JURORS, OUTCOMES, generator=gen),
            marks=make_marks(gen, 1 if small else 2),
            scores=make_scores(gen),
            urgent=i % 4 == 0,
        )
