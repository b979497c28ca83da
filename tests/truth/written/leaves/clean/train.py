"""Leaves: a classifier of small grey images with flax and optax."""
import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

from model import Classifier


def pictures(count, classes, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, count)
    grid = np.linspace(0, 3, 8)
    base = np.stack([np.outer(np.sin(grid * (c + 1)), np.cos(grid * c)) for c in range(classes)])
    images = base[labels] + 0.2 * rng.standard_normal((count, 8, 8))
    return images.astype(np.float32), labels.astype(np.int32)


def stream(images, labels, size, rng=None):
    order = np.arange(len(images)) if rng is None else rng.permutation(len(images))
    stop = len(order) - len(order) % size
    for chosen in order[:stop].reshape(-1, size):
        yield images[chosen], labels[chosen]


class TrainState(train_state.TrainState):
    key: jax.Array


@functools.partial(jax.jit, static_argnums=0)
def train_step(model, state, images, labels):
    key = jax.random.fold_in(state.key, state.step)

    def loss_fn(params):
        logits = model.apply({"params": params}, images, train=True, rngs={"dropout": key})
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def correct(state, images, labels):
    logits = state.apply_fn({"params": state.params}, images)
    return jnp.sum(jnp.argmax(logits, -1) == labels)


def test(state, images, labels, size):
    hits = 0
    for at in range(0, len(images), size):
        hits += int(correct(state, images[at:at + size], labels[at:at + size]))
    return hits / len(images)


def drop_for(epoch, first, every):
    """More dropout as training goes on."""
    return round(first + 0.1 * (epoch // every), 3)


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--size", type=int, default=20)
    p.add_argument("--drop", type=float, default=0.1)
    p.add_argument("--drop-every", type=int, default=2)
    return p.parse_args()


def main():
    args = get_args()
    train = pictures(160, 5, 0)
    held = pictures(80, 5, 1)
    model = Classifier(classes=5, drop=args.drop)
    key = jax.random.key(0)
    params = model.init(key, train[0][:1])["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(3e-3), key=key)
    rng = np.random.default_rng(3)
    for epoch in range(args.epochs):

        for images, labels in stream(*train, args.size, rng):
            state, loss = train_step(model, state, images, labels)
        print(epoch, f"{float(loss):.3f}", f"{test(state, *held, args.size):.2f}")


if __name__ == "__main__":
    main()
