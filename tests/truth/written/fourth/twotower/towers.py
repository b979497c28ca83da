"""The two towers and the history pooler."""
import torch
import torch.nn.functional as F
from torch import nn


class ItemTower(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Embedding(n, d, padding_idx=0)

    def forward(self, ids):
        return F.normalize(self.table(ids), dim=-1)


class UserTower(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Embedding(n, d)
        self.fuse = nn.Linear(2 * d, d)

    def forward(self, ids, pooled):
        return F.normalize(self.fuse(torch.cat([self.table(ids), pooled], -1)), dim=-1)


class HistoryPooler(nn.Module):
    """Attention over chunks; chunk weight decays with age."""

    def __init__(self, items: ItemTower):
        super().__init__()
        self.items = items
        self.decay = nn.Parameter(torch.tensor(0.7))

    def forward(self, chunks):
        out, norm = 0.0, 0.0
        for age, ids in enumerate(chunks):
            alive = (ids > 0).any(-1, keepdim=True).float()
            w = self.decay ** age * alive
            out = out + w * self.items(ids).mean(1)
            norm = norm + w
        return out / norm


class Ranker(nn.Module):
    def __init__(self, users, items, dim, temperature):
        super().__init__()
        self.items = ItemTower(items, dim)
        self.users = UserTower(users, dim)
        self.temperature = temperature

    def forward(self, batch, pooled):
        u = self.users(batch["user"], pooled)
        v = self.items(batch["item"])
        logits = u @ v.T / self.temperature
        gold = torch.arange(logits.shape[0])
        weight = batch.get("dwell")
        per_row = F.cross_entropy(logits, gold, reduction="none")
        if weight is not None:
            per_row = per_row * weight
        return per_row.mean()
