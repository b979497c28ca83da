import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, h):
        q, k, v = self.qkv(h).chunk(3, dim=-1)
        att = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        causal = torch.ones_like(att).tril()
        att = att.masked_fill(causal == 0, -1e9).softmax(-1)
        return h + self.out(att @ v)


class Scribe(nn.Module):
    def __init__(self, vocab=50, dim=16, layers=2, limit=24):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.randn(limit, dim) * 0.1)
        self.layers = nn.ModuleList(Mixer(dim) for _ in range(layers))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.tok(ids) + self.pos[: ids.shape[1]]
        for layer in self.layers:
            h = layer(h)
        return self.head(h[:, -1])
