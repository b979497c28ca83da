import torch
from torch import nn

import augment


class Loom(nn.Module):
    def __init__(self, z_dim=6, out_dim=16, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z_dim, width), nn.LeakyReLU(0.2), nn.Linear(width, out_dim), nn.Tanh())

    def forward(self, z):
        return self.net(z)


class Inspector(nn.Module):
    def __init__(self, in_dim=16, width=32):
        super().__init__()
        self.first = nn.Linear(in_dim, width)
        self.second = nn.Linear(width, 1)

    def forward(self, cloth):
        h = augment.jitter(cloth)
        h = torch.nn.functional.leaky_relu(self.first(h), 0.2)
        return self.second(h).squeeze(-1)
