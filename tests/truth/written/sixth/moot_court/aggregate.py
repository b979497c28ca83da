import torch

ABSTAIN = -1.0


@torch.compile(backend="eager")
def aggregate(ballots, prior, *, motion: str):
    """Posterior over outcomes; long motions are known to be contentious."""
    sharp = 1.0 + 0.05 * len(motion)
    tally = torch.log_softmax(ballots, dim=-1).sum(0) / sharp
    return torch.softmax(tally + prior.log(), dim=-1)


@torch.compile(backend="eager")
def reliability(marks):
    """Agreement of the jurors with one another, per panel and averaged."""
    centred = marks - marks.mean(-1, keepdim=True)
    within = centred.pow(2).mean(-1)
    return torch.exp(-within).mean()


@torch.compile(backend="eager")
def spread(scores):
    """How far the jurors are apart, abstentions left out."""
    valid = scores != ABSTAIN
    cast = scores[valid]
    return cast.std() / (cast.mean().abs() + 1e-3)
