from dataclasses import dataclass, field

import torch

# action scale per task
TASKS = {
    "reach-left": 1.0, "reach-right": 1.1, "push": 0.8, "pull": 0.7, "slide": 1.3,
    "lift": 0.9, "stack": 0.6, "insert": 0.5, "pour": 0.4, "wipe": 1.2,
}


@dataclass
class Rollout:
    obs: list = field(default_factory=list)
    act: list = field(default_factory=list)
    rew: list = field(default_factory=list)

    def add(self, o, a, r):
        self.obs.append(o)
        self.act.append(a)
        self.rew.append(r)


class PointWorld:
    """Drive a point to the origin; windy days end the episode early."""
    HORIZON = 20

    def __init__(self, name, day):
        self.name, self.day = name, day
        self.g = torch.Generator().manual_seed(1000 + day)
        self.pos = torch.randn(3, generator=self.g)

    @property
    def windy(self):
        return self.day >= 7 and self.day % 4 == 3

    def step(self, a):
        self.pos = self.pos + 0.2 * a.clamp(-1, 1)
        return self.pos, -float(self.pos.norm())


def rollout(env, agent):
    roll, o = Rollout(), env.pos
    limit = env.HORIZON - 6 if env.windy else env.HORIZON
    for t in range(env.HORIZON):
        a = agent(o, env)
        nxt, r = env.step(a)
        roll.add(o, a, r if t < limit else 0.0)
        o = nxt
    return roll
