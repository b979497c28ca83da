import torch
from torch import nn


class ObsScaler(nn.Module):
    def __init__(self, dim, eps=1e-4, clip=5.0):
        super().__init__()
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("var", torch.ones(dim))
        self.eps = eps
        self.clip = clip
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, obs):
        self.seen += obs.shape[0]
        rate = obs.shape[0] / self.seen
        delta = obs.mean(0) - self.mean
        self.mean += rate * delta
        self.var += rate * (obs.var(0, unbiased=False) - self.var)
        return ((obs - self.mean) * torch.rsqrt(self.var + self.eps)).clamp(-self.clip, self.clip)


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh())
        self.pi = nn.Linear(width, n_actions)
        self.v = nn.Linear(width, 1)

    def forward(self, obs):
        h = self.trunk(obs)
        return self.pi(h).log_softmax(-1), self.v(h).squeeze(-1)
