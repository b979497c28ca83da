import math

import torch
from torch import nn


class FourierTime(nn.Module):
    def __init__(self, width):
        super().__init__()
        freqs = torch.exp(torch.linspace(0.0, math.log(64.0), width // 2))
        self.register_buffer("freqs", freqs)

    def forward(self, sigma):
        arg = torch.log(sigma)[:, None] * self.freqs
        return torch.cat([arg.sin(), arg.cos()], dim=-1)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.film = nn.Linear(width, 2 * width)

    def forward(self, h, emb):
        scale, shift = self.film(emb).chunk(2, dim=-1)
        z = self.norm(h) * (1 + scale) + shift
        return h + self.down(nn.functional.silu(self.up(z)))


class TinyDenoiser(nn.Module):
    def __init__(self, data_dim=24, cond_dim=8, width=32, depth=2):
        super().__init__()
        self.time = FourierTime(width)
        self.cond = nn.Linear(cond_dim, width)
        self.inp = nn.Linear(data_dim, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.out = nn.Linear(width, data_dim)

    def forward(self, x, sigma, cond):
        emb = self.time(sigma) + self.cond(cond)
        h = self.inp(x / torch.sqrt(1 + sigma[:, None] ** 2))
        for block in self.blocks:
            h = block(h, emb)
        return self.out(h)
