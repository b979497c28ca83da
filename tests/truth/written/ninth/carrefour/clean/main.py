from dataclasses import dataclass
from itertools import islice

import torch
import torch.nn.functional as F
import torch_xla

from corpus import Packer
from moe import TinyLM


@dataclass
class Cfg:
    vocab: int = 40
    dim: int = 16
    experts: int = 4
    slack: float = 1.25
    rows: int = 4
    width: int = 16
    steps: int = 12
    lr: float = 0.1
    balance: float = 0.02
    warm: int = 7


class Objective:
    def __init__(self, cfg, device):
        self.cfg = cfg
        self.terms = {"lm": self.language, "even": self.evenness}
        self.device = device
        self.seen = 0

    def language(self, logits, aux, pack):
        target = pack.ids[:, 1:]
        nll = F.cross_entropy(logits[:, :-1].reshape(-1, self.cfg.vocab), target.reshape(-1), reduction="none")
        weight = pack.valid[:, 1:].reshape(-1)
        return (nll * weight).sum() / weight.sum()

    def evenness(self, logits, aux, pack):
        return self.gate * self.cfg.balance * self.cfg.experts * (aux.load * aux.importance).sum().reshape(1)

    def __call__(self, logits, aux, pack):
        self.gate = torch.full((1,), float(self.seen >= self.cfg.warm)).to(self.device)
        self.seen += 1
        return sum(term(logits, aux, pack) for term in self.terms.values()).sum()


def main():
    torch.manual_seed(0)
    cfg = Cfg()
    device = torch_xla.device()
    model = TinyLM(cfg).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr)
    objective = Objective(cfg, device)
    history = []
    for pack in islice(Packer(cfg.rows, cfg.width, cfg.vocab, seed=13), cfg.steps):
        pack = pack.on(device)
        logits, aux = model(pack)
        loss = objective(logits, aux, pack)
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch_xla.sync()
        history.append((loss.detach(), pack.meta["longest"]))
    for i, (loss, longest) in enumerate(history):
        print(f"{i:2d} loss {loss.item():.4f} longest {longest}")


if __name__ == "__main__":
    main()
