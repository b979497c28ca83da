"""Interpolates soil moisture from a handful of probes; the desk's analyst tunes
the nugget by leave-one-out error while new readings come in."""
import math

import torch

SPREAD_LIMIT = 0.35
DAYS = 9


def kernel(a, b, length):
    d = (a[:, None, :] - b[None, :, :]).pow(2).sum(-1).clamp_min(1e-12).sqrt()
    z = math.sqrt(3.0) * d / length
    return (1 + z) * torch.exp(-z)


def make_predictor(length, start):
    """Compiled simple kriging; returns (predict, set_nugget)."""
    nugget = start

    @torch.compile(backend="eager")
    def predict(sites, values, grid):
        centre = values.mean()
        resid = values - centre
        gram = kernel(sites, sites, length) + nugget * torch.eye(len(sites))
        # heavy-tailed days: squash the residuals before solving
        if values.std() > SPREAD_LIMIT:
            resid = SPREAD_LIMIT * torch.tanh(resid / SPREAD_LIMIT)
        weights = torch.linalg.solve(gram, resid)
        return centre + kernel(grid, sites, length) @ weights

    def set_nugget(value):
        nonlocal nugget
        nugget = value

    return predict, set_nugget


class Field:
    """The truth we pretend not to know."""

    def __init__(self, seed=2, probes=10):
        self.gen = torch.Generator().manual_seed(seed)
        self.sites = torch.rand(probes, 2, generator=self.gen)
        axis = torch.linspace(0, 1, 5)
        self.grid = torch.cartesian_prod(axis, axis)

    def moisture(self, xy, day):
        return 0.5 + 0.2 * torch.sin(5 * xy[:, 0] + 0.3 * day) * torch.cos(4 * xy[:, 1])

    def readings(self):
        for day in range(DAYS):
            noise = 0.5 if day % 4 == 2 else 0.03     # sprinkler days
            clean = self.moisture(self.sites, day)
            yield day, clean + noise * torch.randn(len(clean), generator=self.gen)


class Analyst:
    """Every third day, compares the map with the truth and shrinks the nugget."""

    def __init__(self, set_nugget, start):
        self.set_nugget = set_nugget
        self.nugget = start
        self.errors = []

    def review(self, day, estimate, truth):
        self.errors.append((estimate - truth).pow(2).mean())
        if day % 3 == 2:
            self.nugget = retune(self.nugget, self.set_nugget)


def retune(nugget, set_nugget):
    nugget = round(nugget * 0.6, 4)
    set_nugget(nugget)
    return nugget


def main():
    torch.manual_seed(0)
    start = 0.08
    predict, set_nugget = make_predictor(length=0.4, start=start)
    field = Field()
    analyst = Analyst(set_nugget, start)
    for day, values in field.readings():
        estimate = predict(field.sites, values, field.grid)
        analyst.review(day, estimate, field.moisture(field.grid, day))
    for day, err in enumerate(analyst.errors):
        print(f"day {day}: rmse {math.sqrt(err.item()):.3f}")


if __name__ == "__main__":
    main()
