import numpy as np
from flax import nnx


class Hook:
    def before_step(self, run):
        ...

    def after_epoch(self, run):
        ...


class KLWarmup(Hook):
    def __init__(self, steps, peak):
        self.steps, self.peak = steps, peak

    def before_step(self, run):
        if run.step <= self.steps:
            run.model.kl_weight = self.peak * run.step / self.steps


@nnx.jit
def reconstruct(model, x):
    return model(x)[0]


class ReconstructionGrid(Hook):
    def __init__(self, samples, every):
        self.samples, self.every = samples, every

    def after_epoch(self, run):
        if run.epoch % self.every:
            return
        run.model.eval()
        out = np.asarray(reconstruct(run.model, self.samples))
        print(f"  grid epoch {run.epoch} mse {np.square(out - self.samples).mean():.4f}")


class History(Hook):
    def __init__(self):
        self.rows = []

    def after_epoch(self, run):
        row = {k: round(float(v), 3) for k, v in run.metrics.items()}
        self.rows.append(row)
        print(f"epoch {run.epoch} step {run.step}", row)
