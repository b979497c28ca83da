import torch


class Callback:
    def on_fit_start(self, tr): ...
    def on_epoch_start(self, tr, epoch): ...
    def on_batch_end(self, tr, loss): ...
    def on_epoch_end(self, tr, epoch): ...


class GradualUnfreeze(Callback):
    """Linear probing first, whole network from ``at`` on."""

    def __init__(self, at):
        self.at = at

    def on_fit_start(self, tr):
        self._trunk(tr, False)

    def on_epoch_start(self, tr, epoch):
        if epoch == self.at:
            self._trunk(tr, True)

    def _trunk(self, tr, flag):
        for p in tr.net.trunk.parameters():
            p.requires_grad_(flag)


class Smooth(Callback):
    def __init__(self, beta=0.9):
        self.beta, self.value = beta, None

    def on_batch_end(self, tr, loss):
        self.value = loss if self.value is None else self.beta * self.value + (1 - self.beta) * loss


class HoldOut(Callback):
    """Per-residue accuracy on held-out chains."""

    def __init__(self, x, y, every=2):
        self.x, self.y, self.every = x, y, every
        self.scores = {}

    def on_epoch_end(self, tr, epoch):
        if (epoch + 1) % self.every:
            return
        with torch.no_grad():
            logits = tr.fast(self.x)
        self.scores[epoch] = (logits.argmax(1) == self.y).float().mean().item()


class BestKeeper(Callback):
    def __init__(self, source: HoldOut):
        self.source, self.best, self.blob = source, -1.0, None

    def on_epoch_end(self, tr, epoch):
        s = self.source.scores.get(epoch, -1.0)
        if s > self.best:
            self.best = s
            self.blob = {k: v.detach().clone() for k, v in tr.net.state_dict().items()}
