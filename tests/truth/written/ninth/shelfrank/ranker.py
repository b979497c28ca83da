import torch
from torch import nn


class Shelf(nn.Module):
    def __init__(self, items=48, dim=16):
        super().__init__()
        self.items = nn.Parameter(torch.randn(items, dim) * 0.3)
        self.prior = nn.Parameter(torch.zeros(items))
        self.mix = nn.Linear(dim, dim, bias=False)
        self.slots = 10

    def forward(self, profile):
        who = torch.tanh(self.mix(profile))
        affinity = who @ self.items.t()
        if affinity.dim() > 1:
            affinity = affinity.max(0).values
        score = affinity + self.prior
        best = torch.topk(score, self.slots)
        return best.indices, torch.softmax(best.values, -1)
