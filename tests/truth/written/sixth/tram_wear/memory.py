import math

import torch


class Memory:
    """Attention memory over everything observed so far."""

    def __init__(self, dim, device):
        self.dim = dim
        self.keys = torch.zeros(1, dim, device=device)
        self.values = torch.zeros(1, dim, device=device)

    def push(self, key, value):
        self.keys = torch.cat([self.keys, key[None]])
        self.values = torch.cat([self.values, value[None]])

    def read(self, query):
        att = torch.softmax(self.keys @ query / math.sqrt(self.dim), dim=0)
        return att @ self.values
