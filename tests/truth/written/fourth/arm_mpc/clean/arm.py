# planar 2-link arm, sampled MPC.  units: m, rad, s
from functools import partial, reduce
import torch

DT, H, K = 0.05, 8, 64
L1, L2 = 0.6, 0.4
torch.manual_seed(4)


def fk(q):
    a, b = q[..., 0], q[..., 0] + q[..., 1]
    return torch.stack([L1 * a.cos() + L2 * b.cos(), L1 * a.sin() + L2 * b.sin()], -1)


def dyn(damp, s, u):
    q, w = s[..., :2], s[..., 2:]
    w = (w + DT * u) * (1 - damp * DT)
    return torch.cat([q + DT * w, w], -1)


def stage_cost(slack):
    # slack is bound now, the lambda is called later
    return lambda p, g, slack=slack: torch.clamp((p - g).norm(dim=-1) - slack, min=0.0)


def planner(track):
    """returns (plan, tune): plan a torque, tune the sampling width"""
    sigma = torch.tensor(2.0)
    calls = []

    @torch.compile(backend="eager")
    def plan(state, mean, noise, goal, cost):
        us = mean + sigma * noise
        s = state.expand(K, 4)
        J = torch.zeros(K)
        for t in range(H):
            s = track(s, us[:, t])
            J = J + cost(fk(s[:, :2]), goal) + 1e-3 * us[:, t].square().sum(-1)
        w = torch.softmax(-J / 0.05, 0)
        return (w[:, None, None] * us).sum(0), J.min()

    def tune(dist):
        nonlocal sigma
        calls.append(dist)
        if dist < 0.12:
            sigma = torch.clamp(0.85 * sigma, min=0.4)

    return plan, tune, calls


def phases():
    """reach, then two pick approaches with a tighter tolerance"""
    yield from ((torch.tensor([0.3, 0.7]), torch.tensor(0.02)) for _ in range(16))
    yield from ((torch.tensor([-0.2, 0.8]), torch.tensor(0.02)) for _ in range(12))
    yield from ((torch.tensor([-0.2, 0.75]), torch.tensor(0.005)) for _ in range(12))


def main():
    plan, tune, calls = planner(partial(dyn, 0.4))
    s, mean = torch.zeros(1, 4), torch.zeros(H, 2)
    trace = []
    for goal, tol in phases():
        noise = torch.randn(K, H, 2)
        mean, j = plan(s, mean, noise, goal, stage_cost(tol))
        s = dyn(0.4, s, mean[None, 0])
        d = (fk(s[:, :2]) - goal).norm().item()
        tune(d)
        trace.append(d)
        mean = torch.cat([mean[1:], mean[-1:]])
    print("best %.3f last %.3f tuned %d" % (min(trace), trace[-1], len(calls)), reduce(max, trace) < 3)


main()
