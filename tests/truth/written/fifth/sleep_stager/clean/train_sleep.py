import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from nights import BANDS, STAGES, Loader, Nights
from stager import Stager


@dataclasses.dataclass
class Plan:
    epochs: int = 3
    batch: int = 48
    lr: float = 4e-3
    noise_top: float = 0.3

    def noise_at(self, epoch):
        return self.noise_top * epoch / (self.epochs - 1)


@nnx.jit
def train_batch(model, optimizer, metrics, x, y):
    def loss_fn(m):
        logits = m(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), logits

    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model)
    optimizer.update(model, grads)
    metrics.update(loss=loss, logits=logits, labels=y)


class Trainer:
    def __init__(self, plan):
        self.plan = plan
        self.hooks = []
        self.model = Stager(BANDS, len(STAGES), rngs=nnx.Rngs(params=0, dropout=1, default=2))
        self.optimizer = nnx.Optimizer(self.model, optax.adamw(plan.lr), wrt=nnx.Param)
        self.metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), acc=nnx.metrics.Accuracy())
        self.loader = Loader(Nights(), plan.batch, shuffle_seed=5, drop_last=True)

    def hook(self, fn):
        self.hooks.append(fn)
        return fn

    def fit(self):
        for epoch in range(self.plan.epochs):
            for fn in self.hooks:
                fn(self, epoch)
            for x, y in self.loader:
                train_batch(self.model, self.optimizer, self.metrics, x, y)
            got = jax.device_get(self.metrics.compute())
            self.metrics.reset()
            print(f"epoch {epoch}", {k: round(float(v), 3) for k, v in got.items()})


trainer = Trainer(Plan())


@trainer.hook
def ramp_noise(t, epoch):
    t.model.noise.strength[...] = np.float32(t.plan.noise_at(epoch))


if __name__ == "__main__":
    trainer.fit()
