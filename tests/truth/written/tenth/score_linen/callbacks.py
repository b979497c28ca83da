import numpy as np
import optax


class Callback:
    def after_step(self, trainer, loss):
        pass

    def after_epoch(self, trainer):
        pass


class PlateauLR(Callback):
    def __init__(self, lr, factor=0.5, patience=1):
        self.lr, self.factor, self.patience = lr, factor, patience
        self.best, self.bad, self.window = float("inf"), 0, []

    def after_step(self, trainer, loss):
        self.window.append(float(loss))

    def after_epoch(self, trainer):
        mean, self.window = float(np.mean(self.window)), []
        if mean < self.best * 0.9:
            self.best, self.bad = mean, 0
        else:
            self.bad += 1
        if self.bad >= self.patience:
            self.lr, self.bad = self.lr * self.factor, 0
            trainer.state = trainer.state.replace(tx=optax.adam(self.lr))


class SampleQuality(Callback):
    def __init__(self, total, batch, every):
        self.total, self.batch, self.every = total, batch, every

    def after_epoch(self, trainer):
        if trainer.epoch % self.every:
            return
        rng = np.random.default_rng(trainer.epoch)
        out, made = [], 0
        while made < self.total:
            b = min(self.batch, self.total - made)
            noise = rng.normal(size=(b, 2)).astype(np.float32)
            out.append(np.asarray(trainer.sampler(trainer.ema.shadow, noise, trainer.next_key())))
            made += b
        pts = np.concatenate(out)
        print(f"epoch {trainer.epoch} samples {len(pts)} radius {np.linalg.norm(pts, axis=1).mean():.3f}")


class LogLR(Callback):
    def __init__(self, plateau):
        self.plateau = plateau

    def after_epoch(self, trainer):
        print(f"epoch {trainer.epoch} loss {trainer.last:.3f} lr {self.plateau.lr:.2e}")
