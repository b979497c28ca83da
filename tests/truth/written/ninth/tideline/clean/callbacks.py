from torchlet import Callback


class Deepen(Callback):
    """More refinement passes once the error flattens."""

    def __init__(self, limit=3, patience=1):
        self.limit, self.patience = limit, patience
        self.best, self.stale = float("inf"), 0

    def on_train_epoch_end(self, trainer, module):
        mae = trainer.logged["mae"]
        self.stale = self.stale + 1 if mae > 0.95 * self.best else 0
        self.best = min(self.best, mae)
        if self.stale >= self.patience and module.hparams["passes"] < self.limit:
            module.set_passes(module.hparams["passes"] + 1)
            self.stale = 0


class MeanMeter(Callback):
    def on_train_epoch_start(self, trainer, module):
        self.total, self.n = 0.0, 0

    def on_train_batch_end(self, trainer, module, outputs, batch_idx):
        self.total = self.total + outputs["mae"]
        self.n += 1

    def on_train_epoch_end(self, trainer, module):
        trainer.logged["mae"] = float(self.total / self.n)
        print(f"epoch {trainer.current_epoch} steps {trainer.global_step:2d} mae {trainer.logged['mae']:.4f}")
