import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, past, place):
        q, k, v = self.qkv(x).chunk(3, -1)
        keys, values = past
        keys, values = keys.index_copy(1, place, k), values.index_copy(1, place, v)
        seen = torch.arange(keys.shape[1]) <= place
        x = x + self.out(F.scaled_dot_product_attention(q, keys, values, attn_mask=seen))
        return x, (keys, values)


class Decoder(nn.Module):
    def __init__(self, words, width, depth):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.head = nn.Linear(width, words)

    def forward(self, tokens, past, place, stops):
        x = self.embed(tokens)
        kept = []
        for layer, before in zip(self.layers, past):
            x, now = layer(x, before, place)
            kept.append(now)
        logits = self.head(x[:, -1])
        return logits.masked_fill(stops, -1e9), kept
