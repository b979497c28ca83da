class Callback:
    def __init__(self, every):
        self.every = every

    def after_step(self, trainer, loss):
        if trainer.step % self.every == 0:
            self.fire(trainer, loss)

    def fire(self, trainer, loss):
        raise NotImplementedError


class LossLog(Callback):
    def __init__(self, every):
        super().__init__(every)
        self.history = []

    def fire(self, trainer, loss):
        self.history.append((trainer.step, loss.detach()))


class DriftProbe(Callback):
    """Follows the logits of a fixed reference recording over training."""

    def __init__(self, every, reference):
        super().__init__(every)
        self.reference = reference
        self.trace = []

    def fire(self, trainer, loss):
        logits = trainer.net(self.reference)
        self.trace.append(logits.detach().mean(0))
