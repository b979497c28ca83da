# REINFORCE on a toy forge: which of A furnaces takes the next billet.
# usage: python forge.py
import numpy as np
import torch

D, H, A = 5, 8, 3
NMAX = 12
GAMMA = 0.9
LR = 0.05

rng = np.random.default_rng(8)
torch.manual_seed(8)
w1 = (torch.randn(D, H) * 0.3).requires_grad_()
w2 = (torch.randn(H, A) * 0.3).requires_grad_()
true_w = torch.randn(D, A)


def episode(rng):
    """One shift. obs (n, D), act (n,), rew (n,)"""
    n = int(rng.integers(6, 13))
    obs = torch.from_numpy(rng.normal(size=(NMAX, D)).astype(np.float32))
    act = torch.from_numpy(rng.integers(0, A, size=NMAX))
    rew = (obs @ true_w).gather(1, act[:, None])[:, 0]
    live = (torch.arange(NMAX) < n).float()
    return obs, act, rew, live


def mlp(w1, w2, x):
    return torch.tanh(x @ w1) @ w2


@torch.compile(backend="aot_eager", dynamic=False)
def pg_loss(w1, w2, obs, act, rew, live):
    logp = torch.log_softmax(mlp(w1, w2, obs), -1)
    chosen = logp.gather(1, act[:, None])[:, 0]
    n = live.sum()
    adv = (rew - (rew * live).sum() / n) * live
    ent = -((logp.exp() * logp).sum(-1) * live).sum() / n
    return -(chosen * adv).sum() / n - 0.01 * ent


@torch.compile(backend="aot_eager")
def policy(w1, w2, x):
    return torch.softmax(mlp(w1, w2, x), -1)


def greedy_score():
    p = policy(w1, w2, bench).detach()
    return (bench @ true_w).gather(1, p.argmax(1, keepdim=True)).mean()


def smoothness():
    """Penalty: neighbouring bench states should get similar policies."""
    p = policy(w1, w2, bench)
    return (p[1:] - p[:-1]).pow(2).mean()


bench = torch.from_numpy(rng.normal(size=(16, D)).astype(np.float32))
curve = []
lr = LR
for it in range(6):
    obs, act, rew, live = episode(rng)
    loss = pg_loss(w1, w2, obs, act, rew, live)
    total = loss + 0.1 * smoothness()
    g1, g2 = torch.autograd.grad(total, (w1, w2))
    with torch.no_grad():
        w1 -= lr * g1
        w2 -= lr * g2
    lr *= 0.97
    if it % 3 == 2:
        curve.append(greedy_score())

print("greedy score:", [round(c.item(), 3) for c in curve])
