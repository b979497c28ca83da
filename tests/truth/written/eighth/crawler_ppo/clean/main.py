import jax
import numpy as np
import optax
from flax import nnx

from agent import ActorCritic, act, learn
from envs import CrawlerBatch


class Collector:
    def __init__(self, env, agent, key, greedy=False):
        self.env, self.agent, self.key, self.greedy = env, agent, key, greedy

    def episode(self):
        frames = []
        obs = self.env.reset()
        while not self.env.over:
            self.key, sub = jax.random.split(self.key)
            a, logp, _ = map(np.asarray, act(self.agent, obs, sub, self.greedy))
            nxt, reward, _ = self.env.step(a)
            frames.append((obs, a, logp, reward))
            obs = nxt
        o, a, lp, r = (np.stack(c).astype(c[0].dtype) for c in zip(*frames))
        ret = np.cumsum(r[::-1], axis=0)[::-1].astype(np.float32)
        valid = np.ones(ret.shape, np.float32)
        roll = {"obs": o, "act": a, "logp": lp, "ret": ret, "valid": valid}
        short = self.env.limit - len(ret)
        return {k: np.pad(v, [(0, short)] + [(0, 0)] * (v.ndim - 1)) for k, v in roll.items()}


def main(rounds=12):
    agent = ActorCritic(nnx.Rngs(3))
    optimizer = nnx.Optimizer(agent, optax.adam(5e-3), wrt=nnx.Param)
    trainee = Collector(CrawlerBatch(16, 24, seed=1), agent, jax.random.key(10))
    judge = Collector(CrawlerBatch(16, 24, seed=2), agent, jax.random.key(20), greedy=True)
    ret_scale, ent = np.float32(1.0), np.float32(0.02)
    for it in range(rounds):
        roll = trainee.episode()
        for _ in range(2):
            loss, ret_scale = learn(agent, optimizer, roll, ret_scale, ent)
        ent = np.float32(ent * 0.95)
        if it % 5 == 4:
            exam = judge.episode()
            print(f"round {it:2d} loss {float(loss):.3f} return {exam['ret'][0].mean():.3f}")


if __name__ == "__main__":
    main()
