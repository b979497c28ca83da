import functools
import time

import torch

from aggregate import aggregate, reliability, spread
from docket import OUTCOMES, queue

TIMINGS = {}


def timed(fn):
    """Wall time per handler, read by the dashboard."""

    @functools.wraps(fn)
    def inner(*args, **kwargs):
        t0 = time.perf_counter()
        out = fn(*args, **kwargs)
        TIMINGS.setdefault(fn.__name__, []).append(time.perf_counter() - t0)
        return out

    return inner


class JuryService:
    def __init__(self):
        self.prior = torch.full((OUTCOMES,), 1.0 / OUTCOMES)
        self.served = 0
        self.backlog = []

    @timed
    def verdict(self, req):
        return aggregate(
            req.ballots,
            self.prior,
            sharp=torch.tensor(1.0 + 0.05 * len(req.motion)),
        )

    @timed
    def quality(self, req):
        return reliability(req.marks), spread(req.scores)

    def handle(self, req):
        post = self.verdict(req)
        rel, gap = self.quality(req)
        self.prior = torch.lerp(self.prior, post, 0.05)
        self.served += 1
        row = (req.ident, post, rel, gap)
        # urgent requests go to the front of the report; nothing else differs
        self.backlog.insert(0, row) if req.urgent else self.backlog.append(row)


def main():
    service = JuryService()
    for req in queue(22):
        service.handle(req)
    for ident, post, rel, gap in service.backlog[:6]:
        print(f"#{ident:02d} outcome {post.argmax().item()} reliability {rel.item():.3f} spread {gap.item():.3f}")
    print("served", service.served, "prior", [round(v, 3) for v in service.prior.tolist()])


if __name__ == "__main__":
    main()
