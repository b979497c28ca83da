from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Recipe:
    lr: float = 0.01
    gamma: float = 0.8
    epochs: int = 4
    steps_per_epoch: int = 4
    unfreeze_at: int = 0
    clip: float = 1.0


class BeadNet(nn.Module):
    """Regresses the sub-pixel centre of one fluorescent bead."""

    def __init__(self, side=8, hidden=12):
        super().__init__()
        self.stem = nn.Sequential(nn.Flatten(), nn.Linear(side * side, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, 2)

    def forward(self, patch):
        return torch.sigmoid(self.head(self.stem(patch)))


class StagedUnfreeze:
    """Keeps a part of the network frozen until a given epoch."""

    def __init__(self, part, at_epoch):
        self.part = part
        self.at_epoch = at_epoch

    def on_epoch(self, epoch):
        for p in self.part.parameters():
            p.requires_grad_(epoch >= self.at_epoch)


class Engine:
    def __init__(self, model, recipe):
        self.raw = model
        self.model = torch.compile(model, backend="aot_eager")
        self.recipe = recipe
        # zero gradients from the start: frozen parameters take part in the update as no-ops
        for p in model.parameters():
            p.grad = torch.zeros_like(p)
        self.opt = torch.optim.Adam(model.parameters(), lr=torch.tensor(recipe.lr))
        self.unfreezer = StagedUnfreeze(model.stem, recipe.unfreeze_at)
        opt = self.opt

        @torch.compile(backend="eager")
        def apply_update():
            opt.step()

        self.apply_update = apply_update
        self.history = []

    def one_step(self, patches, centres):
        self.opt.zero_grad(set_to_none=False)
        loss = (self.model(patches) - centres).pow(2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(self.raw.parameters(), self.recipe.clip)
        self.apply_update()
        return loss.detach()

    def decay(self, epoch):
        rate = self.recipe.lr * self.recipe.gamma ** (epoch + 1)
        for group in self.opt.param_groups:
            group["lr"].fill_(rate)

    def fit(self, source):
        for epoch in range(self.recipe.epochs):
            self.unfreezer.on_epoch(epoch)
            losses = [self.one_step(*source.draw()) for _ in range(self.recipe.steps_per_epoch)]
            self.decay(epoch)
            self.history.append(torch.stack(losses).mean())
        return self.history
