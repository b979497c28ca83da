import torch

# how forgiving the ear is, in cents, soprano to bass
TOLERANCE = torch.tensor([12.0, 14.0, 16.0, 20.0])


@torch.compile(backend="eager")
def score_take(item):
    """0 (out of tune) .. 1 (in tune), plus the mean drift in cents."""
    cents = item["cents"]
    tol = TOLERANCE.index_select(0, item["voice"].reshape(1))
    err = (cents - cents.mean()).abs() / tol
    good = torch.exp(-0.5 * err * err)
    if "confidence" in item:
        w = item["confidence"]
        good = (good * w).sum() / w.sum()
    else:
        good = good.mean()
    drift = cents[-8:].mean() - cents[:8].mean()
    return good, drift
