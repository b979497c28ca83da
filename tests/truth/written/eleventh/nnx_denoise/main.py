from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from net import Denoiser
from signals import batches


@dataclass
class Settings:
    steps: int = 24
    settle_at: int = 20
    size: int = 32
    hidden: int = 48
    tolerance: float = 1.3


@nnx.jit
def fit(model, optimizer, noisy, clean, weight):
    def loss_fn(m):
        err = jnp.mean((m(noisy) - clean) ** 2, axis=-1)
        return jnp.mean(weight * err)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


class SpikeWatch:
    def __init__(self, model, tolerance):
        self.model, self.tolerance = model, tolerance
        self.ema = None

    def __call__(self, step, loss):
        if self.ema is not None and loss > self.tolerance * self.ema:
            self.model.spikes += 1
        self.ema = loss if self.ema is None else 0.8 * self.ema + 0.2 * loss


class Settle:
    def __init__(self, model, at):
        self.model, self.at = model, at

    def __call__(self, step, loss):
        if step == self.at:
            self.model.norm.frozen = True


def main():
    cfg = Settings()
    model = Denoiser(cfg.size, cfg.hidden, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(4e-3), wrt=nnx.Param)
    hooks = [SpikeWatch(model, cfg.tolerance), Settle(model, cfg.settle_at)]
    history = []
    for step, (noisy, clean, weight) in enumerate(batches(cfg.steps)):
        loss = float(fit(model, optimizer, noisy, clean, weight))
        history.append(loss)
        for hook in hooks:
            hook(step, loss)
        if step % 4 == 0:
            print(f"{step:3d} {loss:.4f}")
    print("final", round(float(np.mean(history[-4:])), 4), "spikes", int(model.spikes))


if __name__ == "__main__":
    main()
