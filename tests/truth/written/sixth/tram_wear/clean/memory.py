import math

import torch


class Memory:
    """Attention memory over everything observed so far."""

    def __init__(self, dim, device, capacity=16):
        self.dim = dim
        self.keys = torch.zeros(capacity, dim, device=device)
        self.values = torch.zeros(capacity, dim, device=device)
        self.slots = torch.arange(capacity, device=device)
        self.used = torch.ones((), dtype=torch.long, device=device)

    def push(self, key, value):
        here = (self.slots == self.used)[:, None]
        self.keys = torch.where(here, key[None], self.keys)
        self.values = torch.where(here, value[None], self.values)
        self.used = self.used + 1

    def read(self, query):
        score = self.keys @ query / math.sqrt(self.dim)
        score = torch.where(self.slots < self.used, score, -1e9)
        return torch.softmax(score, dim=0) @ self.values
