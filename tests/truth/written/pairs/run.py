"""Learns an embedding of pairs with a contrastive loss (equinox)."""
import argparse
from typing import Iterator, NamedTuple, Optional

import equinox as eqx
import jax
import numpy as np
import optax

from encoder import Encoder, contrast


class Pairs(NamedTuple):
    left: np.ndarray
    right: np.ndarray
    weight: Optional[np.ndarray] = None


def source(size: int, seed: int, noise: float) -> Iterator[Pairs]:
    rng = np.random.default_rng(seed)
    while True:
        base = rng.standard_normal((size, 6)).astype(np.float32)
        left = base + noise * rng.standard_normal(base.shape).astype(np.float32)
        right = base + noise * rng.standard_normal(base.shape).astype(np.float32)
        yield Pairs(left, right)


def graded(pairs: Pairs) -> Pairs:
    near = np.exp(-np.sum((pairs.left - pairs.right) ** 2, axis=1))
    return pairs._replace(weight=near / near.mean())


def mixed(clean: Iterator[Pairs], rough: Iterator[Pairs], every: int) -> Iterator[Pairs]:
    for number, pairs in enumerate(clean):
        if number % every == every - 1:
            pairs = graded(next(rough))
        yield pairs


@eqx.filter_jit
def learn(model, state, pairs, optimizer):
    loss, grads = eqx.filter_value_and_grad(contrast)(model, pairs.left, pairs.right, pairs.weight)
    updates, state = optimizer.update(grads, state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), state, loss


class Sharpener:
    """Raises the sharpness of the scores once the loss is low enough."""

    def __init__(self, start, top):
        self.now, self.top = start, top

    def __call__(self, model, loss):
        if loss < 2.0 and self.now < self.top:
            self.now = min(self.top, self.now * 1.25)
            model = eqx.tree_at(lambda m: m.sharpness, model, self.now)
        return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--every", type=int, default=10)
    args = parser.parse_args()
    model = Encoder(6, 16, 8, jax.random.key(2))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_array))
    sharpen = Sharpener(model.sharpness, 9.0)
    data = mixed(source(args.size, 0, 0.1), source(args.size, 1, 0.6), args.every)
    for step, pairs in zip(range(args.steps), data):
        model, state, loss = learn(model, state, pairs, optimizer)
        if step % 6 == 5:
            print(step, f"{float(loss):.3f}")
            model = sharpen(model, float(loss))


if __name__ == "__main__":
    main()
