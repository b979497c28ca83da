import jax
import numpy as np


class Hook:
    def on_batch(self, trainer, batch):
        return batch

    def before_step(self, trainer, params):
        pass

    def after_step(self, trainer, loss):
        pass

    def after_epoch(self, trainer):
        pass


class ReachSchedule(Hook):
    def __init__(self, stride, longest):
        self.stride, self.longest = stride, longest

    def after_epoch(self, trainer):
        src = trainer.sampler
        src.chunk = min(self.longest, src.chunk + self.stride)


class OperatorNotes(Hook):
    """Corrections typed in by the operators."""

    def __init__(self, first_day, act_dim, seed=5):
        self.first_day, self.act_dim = first_day, act_dim
        self.rng = np.random.default_rng(seed)

    def on_batch(self, trainer, batch):
        if trainer.epoch >= self.first_day:
            size = batch["act"].shape[:2] + (self.act_dim,)
            batch["correction"] = self.rng.normal(scale=0.05, size=size).astype(np.float32)
        return batch


class DriftMeter(Hook):
    def __init__(self, every):
        self.every = every
        self.previous = None
        self.readings = []

    def before_step(self, trainer, params):
        due = trainer.step % self.every == self.every - 1
        self.previous = jax.tree.map(np.array, params) if due else None

    def after_step(self, trainer, loss):
        if self.previous is not None:
            old, new = self.previous, jax.device_get(trainer.params)
            sq = jax.tree.map(lambda a, b: float(np.sum((a - b) ** 2)), old, new)
            self.readings.append(sum(jax.tree.leaves(sq)) ** 0.5)


class Console(Hook):
    def __init__(self):
        self.losses = []

    def after_step(self, trainer, loss):
        self.losses.append(loss)

    def after_epoch(self, trainer):
        recent = np.mean([float(v) for v in self.losses])
        print(f"epoch {trainer.epoch} drawn {trainer.sampler.drawn:4d} loss {recent:.4f}")
        self.losses.clear()
