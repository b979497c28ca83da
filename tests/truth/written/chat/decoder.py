import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, past):
        q, k, v = self.qkv(x).chunk(3, -1)
        if past is not None:
            k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v))
        return x, (k, v)


class Decoder(nn.Module):
    def __init__(self, words, width, depth):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.head = nn.Linear(width, words)

    def forward(self, tokens, past, stops):
        x = self.embed(tokens)
        kept = []
        for layer, before in zip(self.layers, past or [None] * len(self.layers)):
            x, now = layer(x, before)
            kept.append(now)
        logits = self.head(x[:, -1])
        for stop in stops:
            logits = logits.index_fill(1, torch.tensor([stop]), -1e9)
        return logits, kept
