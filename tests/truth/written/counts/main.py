"""Predicts how many bicycles are hired in an hour."""
import argparse
import dataclasses

import numpy as np
import optax
from flax import nnx
import jax.numpy as jnp

from net import Regressor


@dataclasses.dataclass
class Settings:
    steps: int = 12
    batch: int = 16
    rate: float = 1e-2
    report: int = 4


class Hours:
    def __init__(self, rng):
        self.rng = rng

    def draw(self, count):
        hour = self.rng.uniform(0, 24, count)
        warm = self.rng.normal(15, 8, count)
        rain = self.rng.random(count) < 0.2
        hired = 50 + 30 * np.sin(hour / 24 * 2 * np.pi) + warm - 20 * rain
        x = np.stack([hour, warm, rain, hour * warm], 1)
        return x.astype(np.float32), (hired / 50).astype(np.float32)

    def __iter__(self):
        while True:
            yield self.draw(16)


def error(model, x, y, learn):
    return jnp.mean((model(x, learn) - y) ** 2)


@nnx.jit
def train(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(lambda m: error(m, x, y, True))(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def validate(model, x, y):
    return error(model, x, y, False)


def parse():
    parser = argparse.ArgumentParser()
    for field in dataclasses.fields(Settings):
        parser.add_argument("--" + field.name, type=field.type, default=field.default)
    return Settings(**vars(parser.parse_args()))


def main():
    settings = parse()
    rng = np.random.default_rng(5)
    hours = Hours(rng)
    model = Regressor(4, 16, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(settings.rate), wrt=nnx.Param)
    held = hours.draw(32)
    for number, (x, y) in enumerate(hours):
        if number == settings.steps:
            break
        loss = train(model, optimizer, x, y)
        if number % settings.report == settings.report - 1:
            print(number, f"{float(loss):.3f}", f"{float(validate(model, *held)):.3f}")


if __name__ == "__main__":
    main()
