import math
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn


class Switch(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.gate = nn.Linear(cfg.dim, cfg.experts, bias=False)
        self.up = nn.Parameter(torch.randn(cfg.experts, cfg.dim, 2 * cfg.dim) * 0.1)
        self.down = nn.Parameter(torch.randn(cfg.experts, 2 * cfg.dim, cfg.dim) * 0.1)

    def room(self):
        return math.ceil(self.cfg.slack * self.cfg.rows * self.cfg.width / self.cfg.experts)

    def forward(self, h, valid):
        flat = h.reshape(-1, h.shape[-1])
        live = valid.reshape(-1, 1)
        prob = self.gate(flat).softmax(-1)
        hot = F.one_hot(prob.argmax(-1), self.cfg.experts).float() * live
        place = (hot.cumsum(0) - 1.0) * hot
        seats = torch.arange(self.room(), device=h.device)
        send = hot.unsqueeze(-1) * (place.unsqueeze(-1) == seats).float()
        inbox = torch.einsum("nec,nd->ecd", send, flat)
        out = torch.relu(inbox @ self.up) @ self.down
        back = torch.einsum("nec,ecd->nd", send, out) * prob.amax(-1, keepdim=True)
        aux = SimpleNamespace(load=hot.mean(0), importance=prob.mean(0))
        return (flat + back).reshape(h.shape), aux


class TinyLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.embed = nn.Embedding(cfg.vocab, cfg.dim)
        self.mix = nn.Linear(2 * cfg.dim, cfg.dim)
        self.switch = Switch(cfg)
        self.norm = nn.LayerNorm(cfg.dim)

    def forward(self, pack):
        e = self.embed(pack.ids)
        prev = F.pad(e, (0, 0, 1, 0))[:, :-1]
        h = torch.tanh(self.mix(torch.cat([e, prev], -1)))
        h, aux = self.switch(h, pack.valid)
        return self.norm(h) @ self.embed.weight.t(), aux
