import numpy as np
import optax
from flax import nnx

from hooks import History, KLWarmup, ReconstructionGrid
from vae import VAE


@nnx.jit
def train_step(model, optimizer, x):
    (loss, aux), grads = nnx.value_and_grad(lambda m: m.objective(x), has_aux=True)(model)
    optimizer.update(model, grads)
    return {"loss": loss, **aux}


def blobs(n, side=6, seed=0):
    rng = np.random.default_rng(seed)
    g = np.arange(side)
    cx, cy = rng.uniform(1, side - 2, (2, n, 1, 1))
    img = np.exp(-((g[None, :, None] - cx) ** 2 + (g[None, None] - cy) ** 2) / 2)
    return img.reshape(n, -1).astype(np.float32)


class Run:
    def __init__(self, hooks, seed=0):
        self.model = VAE(rngs=nnx.Rngs(seed, noise=seed + 1, dropout=seed + 2))
        schedule = optax.linear_schedule(3e-3, 1e-3, 24)
        self.optimizer = nnx.Optimizer(self.model, optax.adam(schedule), wrt=nnx.Param)
        self.hooks, self.step, self.epoch, self.metrics = hooks, 0, 0, {}

    def emit(self, event):
        for h in self.hooks:
            getattr(h, event)(self)

    def fit(self, data, epochs, batch):
        order = np.random.default_rng(1)
        for self.epoch in range(1, epochs + 1):
            perm = order.permutation(len(data))
            for i in range(0, len(data) - batch + 1, batch):
                self.step += 1
                self.emit("before_step")
                self.metrics = train_step(self.model, self.optimizer, data[perm[i : i + batch]])
            self.emit("after_epoch")


if __name__ == "__main__":
    data = blobs(70)
    Run([KLWarmup(steps=5, peak=0.5), ReconstructionGrid(data[:8], every=3), History()]).fit(data, epochs=6, batch=16)
