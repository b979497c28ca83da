import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch import nn

import losses  # noqa: F401
from data import Match, loaders
from registry import build

CFG = {
    "tiles": 38,
    "batch": 8,
    "epochs": 2,
    "lr": 0.02,
    "head": {"width": 24},
    "losses": [{"type": "objectness", "gamma": 2.0}, {"type": "box_l1", "weight": 0.5}],
}


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(10, width), nn.SiLU())
        self.score = nn.Linear(width, 1)
        self.box = nn.Linear(width, 4)

    def forward(self, x):
        h = self.stem(x)
        return {"score": self.score(h).squeeze(-1), "box": self.box(h)}


class Epoch:
    def __init__(self, head, terms, opt, device):
        self.head, self.terms, self.opt, self.device = head, terms, opt, device

    def move(self, batch):
        feats, hit, box = (t.to(self.device) for t in batch)
        return feats, Match(hit, box)

    def step(self, batch):
        feats, match = self.move(batch)
        out = self.head(feats)
        total = sum(term(out, match) for term in self.terms)
        self.opt.zero_grad()
        total.backward()
        self.opt.step()
        xm.mark_step()
        return total.detach()

    def run(self, loader):
        return [self.step(b) for b in loader]


def main():
    torch.manual_seed(5)
    device = torch_xla.device()
    head = Head(**CFG["head"]).to(device)
    opt = torch.optim.SGD(head.parameters(), lr=CFG["lr"])
    epoch = Epoch(head, [build(s) for s in CFG["losses"]], opt, device)
    train, check = loaders(CFG)
    with torch.no_grad():
        for feats, hit, _ in check:
            agree = ((head(feats.to(device))["score"] > 0) == hit.to(device)).float().mean()
            xm.mark_step()
            print("before", round(agree.item(), 4))
    for e in range(CFG["epochs"]):
        trail = epoch.run(train)
        print("epoch", e, " ".join(f"{t.item():.4f}" for t in trail))


if __name__ == "__main__":
    main()
