"""Small torch networks to train: NETS[name]() -> module, batch, loss_of(module, *batch), optimizer of parameters."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def adamw(parameters):
    return torch.optim.AdamW(parameters, 1e-2)


def momentum(parameters):
    return torch.optim.SGD(parameters, 0.05, momentum=0.9)


def mlp():
    net = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    return net, (torch.randn(16, 32), torch.randn(16, 4)), lambda net, x, y: F.mse_loss(net(x), y), adamw


def cnn():
    net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
                        nn.Linear(64, 10))
    batch = torch.randn(8, 1, 16, 16), torch.randint(0, 10, (8,))
    return net, batch, lambda net, x, y: F.cross_entropy(net(x), y), momentum


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.qkv(self.norm1(x)).chunk(3, -1)
        q, k, v = (a.view(b, t, self.heads, d // self.heads).transpose(1, 2) for a in qkv)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, vocab=64, width=32, heads=2, layers=2, length=16):
        super().__init__()
        self.token, self.place = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, tokens):
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def gpt():
    tokens = torch.randint(0, 64, (4, 17))
    batch = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    return GPT(), batch, lambda net, x, y: F.cross_entropy(net(x).flatten(0, 1), y.flatten()), adamw


NETS = {"mlp": mlp, "cnn": cnn, "gpt": gpt}
