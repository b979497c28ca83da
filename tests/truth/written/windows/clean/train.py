"""A small language model; later it learns only from what it finds hard."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm

from corpus import Corpus


@dataclass
class Config:
    vocabulary: int = 17
    width: int = 16
    context: int = 12
    length: int = 110
    rounds: int = 2
    rate: float = 0.1


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocabulary, config.width)
        self.mix = nn.Conv1d(config.width, config.width, 3)
        self.head = nn.Linear(config.width, config.vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens).transpose(1, 2)
        x = torch.tanh(self.mix(F.pad(x, (2, 0))))
        return self.head(x.transpose(1, 2))


class Hard:
    """Chooses the share of the targets that counts."""

    def __init__(self, first, step):
        self.share, self.step = first, step

    def __call__(self, each):
        flat = each.flatten()
        count = max(1, int(flat.numel() * self.share))
        return flat.topk(count).values.mean()

    def narrow(self):
        self.share = self.share


def fit(model, optimizer, corpus, pick):
    for tokens, target in corpus:
        optimizer.zero_grad()
        logits = model(tokens)
        each = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
        loss = pick(each)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    return loss


def main():
    config = Config()
    torch.manual_seed(0)
    device = torch_xla.device()
    model = Model(config).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config.rate)
    corpus = Corpus(config.length, config.vocabulary, config.context).to(device)
    pick = Hard(1.0, 0.3)
    for number in range(config.rounds):
        loss = fit(model, optimizer, corpus, pick)
        print(number, f"{loss.item():.3f}")
        pick.narrow()


if __name__ == "__main__":
    main()
