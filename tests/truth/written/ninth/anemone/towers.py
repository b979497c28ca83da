import torch
import torch.nn.functional as F
from torch import nn


class Rate:
    def __init__(self, start, end, over):
        self.start, self.end, self.over = start, end, over
        self.tick = 0

    @property
    def value(self):
        share = min(self.tick / self.over, 1.0)
        return round(self.start + (self.end - self.start) * share, 4)


class Tower(nn.Module):
    def __init__(self, vocab, dim, rate):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.proj = nn.Linear(dim, dim)
        self.rate = rate

    def forward(self, ids, keep):
        h = self.embed(ids)
        h = F.dropout(h, self.rate.value, self.training)
        pooled = (h * keep.unsqueeze(-1)).sum(1) / keep.sum(1, keepdim=True)
        return F.normalize(self.proj(pooled), dim=-1)


class TwoTowers(nn.Module):
    def __init__(self, vocab=60, dim=16, rate=None):
        super().__init__()
        self.query = Tower(vocab, dim, rate)
        self.answer = Tower(vocab, dim, rate)
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, batch):
        q = self.query(batch.query, batch.query_keep)
        a = self.answer(batch.answer, batch.answer_keep)
        return q @ a.t() * self.log_scale.exp()
