import torch


class VecGridWalk:
    """n walkers on a torus, reward for closing in on a drifting goal"""
    moves = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])

    def __init__(self, n, size=9, seed=0):
        self.n, self.size = n, size
        self.gen = torch.Generator().manual_seed(seed)

    def reset(self):
        self.pos = torch.randint(0, self.size, (self.n, 2), generator=self.gen).float()
        self.goal = torch.randint(0, self.size, (self.n, 2), generator=self.gen).float()
        return self._obs()

    def _obs(self):
        return torch.cat([self.pos, self.goal, self.goal - self.pos], dim=1)

    def step(self, action):
        before = (self.goal - self.pos).abs().sum(1)
        self.pos = (self.pos + self.moves[action]) % self.size
        after = (self.goal - self.pos).abs().sum(1)
        return self._obs(), before - after
