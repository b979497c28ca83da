import torch

ABSTAIN = -1.0


@torch.compile(backend="eager")
def aggregate(ballots, prior, *, sharp):
    """Posterior over outcomes; long motions are known to be contentious."""
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
    n = valid.sum()
    mean = torch.where(valid, scores, 0.0).sum() / n
    var = torch.where(valid, (scores - mean).pow(2), 0.0).sum() / (n - 1)
    return var.sqrt() / (mean.abs() + 1e-3)
