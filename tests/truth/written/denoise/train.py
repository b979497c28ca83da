"""Trains a small convolutional denoiser."""
import argparse
import dataclasses

import jax
import jax.numpy as jnp

import clips


@dataclasses.dataclass
class Plan:
    epochs: int = 3
    batch: int = 4
    rate: float = 1e-2
    smooth_from: int = 2
    smooth: float = 0.05


def init(key, width=9, channels=8):
    k1, k2 = jax.random.split(key)
    return {
        "up": 0.1 * jax.random.normal(k1, (channels, 1, width)),
        "down": 0.1 * jax.random.normal(k2, (1, channels, width)),
    }


def denoise(params, noisy):
    x = noisy[:, None, :]
    x = jax.lax.conv_general_dilated(x, params["up"], (1,), "SAME")
    x = jnp.tanh(x)
    x = jax.lax.conv_general_dilated(x, params["down"], (1,), "SAME")
    return noisy - x[:, 0, :]


class Trainer:
    def __init__(self, plan, params):
        self.plan = plan
        self.params = params
        self.regularise = False
        self._step = {}

    def objective(self, params, batch):
        out = denoise(params, batch["noisy"])
        mask = jnp.arange(out.shape[1]) < batch["lengths"][:, None]
        loss = jnp.sum(mask * (out - batch["clean"]) ** 2) / jnp.sum(mask)
        if self.regularise:
            rough = jnp.diff(out, axis=1)
            loss = loss + self.plan.smooth * jnp.mean(rough ** 2)
        return loss

    def step(self, batch):
        fn = self._step.get(self.regularise)
        if fn is None:
            @jax.jit
            def one_step(params, batch):
                loss, grads = jax.value_and_grad(self.objective)(params, batch)
                new = jax.tree.map(lambda p, g: p - self.plan.rate * g, params, grads)
                return new, loss
            fn = self._step[self.regularise] = one_step
        self.params, loss = fn(self.params, batch)
        return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=Plan.epochs)
    args = parser.parse_args()
    plan = Plan(epochs=args.epochs)
    recording = clips.Recording()
    spans = clips.spans_of(recording, 32)
    trainer = Trainer(plan, init(jax.random.key(0)))
    for epoch in range(plan.epochs):
        if epoch >= plan.smooth_from:
            trainer.regularise = True
        total = 0.0
        for batch in clips.batches(recording, plan.batch, spans, seed=epoch):
            total += float(trainer.step(batch))
        print(f"epoch {epoch}: {total:.4f}")


if __name__ == "__main__":
    main()
