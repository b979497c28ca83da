class Callback:
    def on_batch(self, trainer, loss):
        pass

    def on_epoch(self, trainer, metrics):
        pass


class Plateau(Callback):
    def __init__(self, lr, factor=0.5, patience=1):
        self.lr = lr
        self.factor = factor
        self.patience = patience
        self.best = float("inf")
        self.waited = 0

    def on_epoch(self, trainer, metrics):
        if metrics["val"] < self.best - 0.05:
            self.best, self.waited = metrics["val"], 0
            return
        self.waited += 1
        if self.waited >= self.patience:
            self.waited = 0
            self.lr *= self.factor
            trainer.set_lr(self.lr)


class Smoother(Callback):
    def __init__(self, beta=0.9):
        self.beta = beta
        self.value = None

    def on_batch(self, trainer, loss):
        self.value = loss if self.value is None else self.beta * self.value + (1 - self.beta) * loss


class Printer(Callback):
    def on_epoch(self, trainer, metrics):
        print(" ".join(f"{k}={v:.4f}" for k, v in metrics.items()))
