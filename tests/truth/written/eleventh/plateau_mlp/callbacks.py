class Callback:
    def on_epoch_end(self, trainer, logs):
        pass


class History(Callback):
    def __init__(self):
        self.rows = []

    def on_epoch_end(self, trainer, logs):
        self.rows.append(dict(logs))


class ReduceOnPlateau(Callback):
    def __init__(self, factor=0.5, patience=1, min_delta=0.08):
        self.factor, self.patience, self.min_delta = factor, patience, min_delta
        self.best, self.bad = float("inf"), 0

    def on_epoch_end(self, trainer, logs):
        if logs["loss"] < self.best - self.min_delta:
            self.best, self.bad = logs["loss"], 0
            return
        self.bad += 1
        if self.bad >= self.patience:
            self.bad = 0
            trainer.set_learning_rate(trainer.learning_rate * self.factor)
