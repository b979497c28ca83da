"""Row Y: a library's data set is cut into batches in one of many steps, and passed on as an iterator."""
import pathlib
import sys
from typing import NamedTuple

import jax
import jax.numpy as jnp

sys.path.append(str(pathlib.Path(__file__).parent / "site-packages"))
import pipeline  # noqa: E402


class Batch(NamedTuple):
    image: jax.Array
    label: jax.Array


def open_split(count, size):
    ds = pipeline.load(count)
    ds = ds.shuffle(5)
    ds = ds.batch(size)
    ds = ds.repeat()
    return iter(pipeline.as_numpy(ds))


def open_chained(count, size):
    rows = (
        pipeline.load(count)
        .shuffle(3)
        .batch(size * 2)
        .repeat()
    )
    return map(lambda row: Batch(row["image"], row["label"]), rows)


def scaled(image):
    return image.astype(jnp.float32) / 255.0


@jax.jit
def update(weights, batch):
    return weights - 0.1 * jax.grad(lambda w: jnp.mean((scaled(batch["image"]) @ w - batch["label"]) ** 2))(weights)


@jax.jit
def refine(weights, batch):
    return weights - 0.1 * jax.grad(lambda w: jnp.mean((batch.image @ w - batch.label) ** 2))(weights)


def main():
    plain, chained = open_split(44, 8), open_chained(44, 8)
    weights = jnp.zeros(5)
    for _ in range(12):
        weights = update(weights, next(plain))
    for _ in range(12):
        weights = refine(weights, next(chained))
    print(float(weights.sum()))


main()
