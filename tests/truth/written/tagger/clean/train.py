"""Tags the words of sentences (TorchTPU)."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_tpu

import sentences


class Tagger(nn.Module):
    def __init__(self, words=30, width=16, tags=3):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.near = nn.Conv1d(width, width, 3, padding=1)
        self.out = nn.Linear(width, tags)
        self.register_buffer("sharp", torch.tensor(1.0))

    def forward(self, words):
        x = self.embed(words)
        x = x + F.gelu(self.near(x.transpose(1, 2))).transpose(1, 2)
        return self.out(x) * self.sharp


class Run:
    def __init__(self, args):
        torch.manual_seed(0)
        self.device = torch.device("tpu")
        self.model = Tagger().to(self.device)
        self.loss = torch.compile(self._loss, dynamic=False)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.rate)

    def _loss(self, words, tags):
        return F.cross_entropy(self.model(words).flatten(0, 1), tags.flatten())

    def epoch(self, loader):
        total = []
        for words, tags in loader:
            loss = self.loss(words.to(self.device), tags.to(self.device))
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            total.append(loss.detach())
        return torch.stack(total).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--rate", type=float, default=0.1)
    args = parser.parse_args()
    run = Run(args)
    loader = sentences.loader(args.count, args.size)
    for number in range(args.epochs):
        if number == args.epochs - 1:
            run.model.sharp.fill_(1.5)
        print(number, f"{run.epoch(loader):.3f}")


if __name__ == "__main__":
    main()
