import torch
import torch_tpu

torch_tpu._loader._init_device("tpu")

import knobs
from cloth import Bolt
from losses import fabric_loss


class Hook:
    def on_epoch(self, trainer, epoch):
        pass


class SmoothingHook(Hook):
    """Hard labels first, smoothed ones later."""

    def __init__(self, from_epoch):
        self.from_epoch = from_epoch

    def on_epoch(self, trainer, epoch):
        knobs.LABEL_SMOOTHING = epoch >= self.from_epoch


class PaceHook(Hook):
    """Slows the eager update down; the loss never sees the rate."""

    def on_epoch(self, trainer, epoch):
        trainer.rate = 0.5 / (1 + epoch)
        knobs.VERBOSE = epoch % 2 == 0


class Trainer:
    def __init__(self, device, hooks):
        self.device = device
        self.hooks = hooks
        self.rate = 0.5
        gen = torch.Generator().manual_seed(1)
        self.w = (0.1 * torch.randn(5, generator=gen)).to(device).requires_grad_()
        self.b = torch.zeros(()).to(device).requires_grad_()

    def update(self, loss):
        gw, gb = torch.autograd.grad(loss, (self.w, self.b))
        with torch.no_grad():
            self.w -= self.rate * gw
            self.b -= self.rate * gb

    def fit(self, bolt):
        for epoch in range(knobs.EPOCHS):
            for hook in self.hooks:
                hook.on_epoch(self, epoch)
            losses = []
            for x, y in bolt.batches():
                loss = fabric_loss(self.w, self.b, x.to(self.device), y.to(self.device))
                self.update(loss)
                losses.append(loss.detach())
            if knobs.VERBOSE:
                print(f"epoch {epoch}: loss {torch.stack(losses).mean().item():.4f}")


def main():
    device = torch.device("tpu")
    bolt = Bolt(samples=44, batch=12)
    trainer = Trainer(device, hooks=[SmoothingHook(from_epoch=0), PaceHook()])
    trainer.fit(bolt)


if __name__ == "__main__":
    main()
