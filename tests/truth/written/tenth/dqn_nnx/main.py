import argparse

import numpy as np
import optax
from flax import nnx

from nets import QNet, coverage, greedy, td_step
from replay import Ring


class ChainWorld:
    """Noisy 1-d navigation: reach |x| > 1 on the right side."""

    def __init__(self, n, rng):
        self.rng, self.n = rng, n
        self.x = np.zeros((n, 2), np.float32)

    def step(self, action):
        push = (action - 1).astype(np.float32) * 0.12
        vel = 0.8 * self.x[:, 1] + push + self.rng.normal(0, 0.02, self.n)
        nxt = np.stack([self.x[:, 0] + vel, vel], 1).astype(np.float32)
        rew = np.where(nxt[:, 0] > 1.0, 1.0, -0.01).astype(np.float32)
        end = np.abs(nxt[:, 0]) > 1.0
        prev, self.x = self.x, np.where(end[:, None], 0.0, nxt).astype(np.float32)
        return prev, rew, nxt, end.astype(np.float32)


def polyak(online, target, tau):
    src, dst = nnx.state(online, nnx.Param), nnx.state(target, nnx.Param)
    leaves = {k: v for k, v in nnx.to_flat_state(src)}
    mixed = [(k, v.replace(np.asarray(v[...]) * (1 - tau) + tau * np.asarray(leaves[k][...]))) for k, v in nnx.to_flat_state(dst)]
    nnx.update(target, nnx.from_flat_state(mixed))


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=26)
    ap.add_argument("--envs", type=int, default=16)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--report-every", type=int, default=4)
    ap.add_argument("--seed", type=int, default=0)
    ns = ap.parse_args(argv)

    rng = np.random.default_rng(ns.seed)
    env = ChainWorld(ns.envs, rng)
    ring = Ring(1024, 2)
    online = QNet(2, 3, 24, rngs=nnx.Rngs(ns.seed))
    target = QNet(2, 3, 24, rngs=nnx.Rngs(ns.seed))
    opt = nnx.Optimizer(online, optax.adam(3e-3), wrt=nnx.Param)

    for it in range(1, ns.iters + 1):
        eps = max(0.05, 1.0 - it / 15)
        act = np.asarray(greedy(online, env.x))
        act = np.where(rng.random(ns.envs) < eps, rng.integers(0, 3, ns.envs), act)
        prev, rew, nxt, end = env.step(act)
        ring.push(prev, act, rew, nxt, end)

        idx, batch = ring.draw(rng, ns.batch)
        loss, td = td_step(online, target, opt, batch, np.float32(0.97))
        ring.reprioritise(idx, np.asarray(td))
        polyak(online, target, tau=0.05 if it < 10 else 0.02)

        if it % ns.report_every == 0:
            rep = coverage(online, ring.view())
            print(f"it {it:2d} loss {float(loss):.4f} gap {float(rep['gap']):.4f} qmax {float(rep['qmax']):.3f}")


if __name__ == "__main__":
    main()
