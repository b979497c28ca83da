import contextlib

import jax
import numpy as np
import optax
from flax import nnx

from agent import ActorCritic, act, learn
from envs import CrawlerBatch


@contextlib.contextmanager
def behaving(agent, mode):
    before, agent.mode = agent.mode, mode
    try:
        yield agent
    finally:
        agent.mode = before


class Collector:
    def __init__(self, env, agent, key):
        self.env, self.agent, self.key = env, agent, key

    def episode(self):
        frames = []
        obs = self.env.reset()
        while not self.env.over:
            self.key, sub = jax.random.split(self.key)
            a, logp, _ = map(np.asarray, act(self.agent, obs, sub))
            nxt, reward, _ = self.env.step(a)
            frames.append((obs, a, logp, reward))
            obs = nxt
        o, a, lp, r = (np.stack(c).astype(c[0].dtype) for c in zip(*frames))
        ret = np.cumsum(r[::-1], axis=0)[::-1].astype(np.float32)
        return {"obs": o, "act": a, "logp": lp, "ret": ret}


def main(rounds=12):
    agent = ActorCritic(nnx.Rngs(3))
    optimizer = nnx.Optimizer(agent, optax.adam(5e-3), wrt=nnx.Param)
    trainee = Collector(CrawlerBatch(16, 24, seed=1), agent, jax.random.key(10))
    judge = Collector(CrawlerBatch(16, 24, seed=2), agent, jax.random.key(20))
    ret_scale, ent = 1.0, np.float32(0.02)
    for it in range(rounds):
        roll = trainee.episode()
        for _ in range(2):
            loss, ret_scale = learn(agent, optimizer, roll, ret_scale, ent)
        ent = np.float32(ent * 0.95)
        if it % 5 == 4:
            with behaving(agent, "greedy"):
                exam = judge.episode()
            print(f"round {it:2d} loss {float(loss):.3f} return {exam['ret'][0].mean():.3f}")


if __name__ == "__main__":
    main()
