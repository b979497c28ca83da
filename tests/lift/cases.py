"""Functions of JAX that bake a drifting value into their program, run for each of many values.

usage: cases.py RESULTS.npz [FUNCTION…]     all functions unless some are named, here or in $FUNCTIONS"""
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np

FIRST = int(os.environ.get("FIRST_VALUE", 0))
VALUES = int(os.environ.get("VALUES", 50))
X = np.linspace(-2, 2, 48, dtype=np.float32).reshape(8, 6)
LONG = np.linspace(-2, 2, 768, dtype=np.float32).reshape(128, 6)  # each value has a row of its own


def learning_rate(i):
    def learning_rate(w, x):
        gradient = jax.grad(lambda v: ((x @ v) ** 2).mean())(w)
        return w - (1e-3 * 0.9**i) * gradient

    return jax.jit(learning_rate)(jnp.ones((6, 3)), X)


def counter(i):
    def counter(x):
        return x * 0.5 + i, jnp.arange(6) % (i + 1)

    return jax.jit(counter)(X)


def temperature(i):
    def temperature(x):
        return jax.nn.softmax(x / (1.0 + i / 10))

    return jax.jit(temperature)(X)


def loss_scale(i):
    scale = 1024.0 + i

    def loss_scale(w, x):
        gradient = jax.grad(lambda v: ((x @ v) ** 2).mean() * scale)(w)
        return gradient / scale, jnp.isfinite(gradient).all()

    return jax.jit(loss_scale)(jnp.ones((6, 3)), X)


def position(i):
    """A token's place: a rotary angle, a row of a cache, and a mask of what came before."""

    def position(cache, x):
        cache = jax.lax.dynamic_update_slice(cache, x[:1] * jnp.cos(i * jnp.linspace(1, 0, 6)), (i, 0))
        return cache, jnp.where(jnp.arange(128) <= i, cache[:, 0], -1e9)

    return jax.jit(position)(LONG, X)


def iota_start(i):
    def iota_start(x):
        return x * jnp.arange(i + 1, i + 7), jax.lax.iota(jnp.int32, 8) + i  # from 0, JAX adds nothing

    return jax.jit(iota_start)(X)


def pad_start(i):
    def pad_start(x):
        return jnp.pad(x, ((i, 120 - i), (0, 0)))

    return jax.jit(pad_start)(X)


def dynamic_slice_start(i):
    def dynamic_slice_start(x):
        return jax.lax.dynamic_slice(x, (i, 0), (4, 6)) * 3

    return jax.jit(dynamic_slice_start)(LONG)


def slice_start(i):
    def slice_start(x):
        return x[i : i + 2] * 2, jax.grad(lambda v: (v[i : i + 2] ** 2).sum())(x)

    return jax.jit(slice_start)(LONG)


def static_argument(i):
    def static_argument(x, scale):
        return jnp.tanh(x * scale)

    return jax.jit(static_argument, static_argnums=1)(X, i / 7)


def splat(i):
    def splat(x):
        return x + jnp.full((8, 6), 0.25 * i), np.full((8, 6), 1.5 * i, np.float32) * x

    return jax.jit(splat)(X)


def closed_over(i):
    table = np.random.default_rng(i).standard_normal((6, 4)).astype(np.float32)

    def closed_over(x):
        return x @ table

    return jax.jit(closed_over)(X)


def images(i):
    """A data set of images that a training step of a convolution closes over."""
    data = np.random.default_rng(i).standard_normal((4, 2, 6, 6)).astype(np.float32)

    def images(w):
        return jax.value_and_grad(lambda v: (jax.nn.relu(jax.lax.conv(data, v, (1, 1), "SAME")) ** 2).mean())(w)

    return jax.jit(images)(X[:, :2, None, None] * np.ones((3, 3), np.float32))


def rematerialized(i):
    """What a checkpointed function closes over passes through a barrier."""
    data = np.random.default_rng(i).standard_normal((5, 8)).astype(np.float32)

    def rematerialized(w):
        layer = jax.checkpoint(lambda v: jnp.tanh(jnp.asarray(data) @ v).sum() * (1 + i / 7))
        return jax.value_and_grad(layer)(w)

    return jax.jit(rematerialized)(X)


def mask(i):
    chosen = np.random.default_rng(i).random((8, 6)) > 0.5

    def mask(x):
        return jnp.where(chosen, x, -1)

    return jax.jit(mask)(X)


def loop(i):
    def loop(x):
        y = jax.lax.fori_loop(0, 4, lambda k, v: v * (0.5 + i / 100) + 0.001, x)
        return jax.lax.cond(y.sum() > 0, lambda v: v * (1 + i), lambda v: v - i, y)

    return jax.jit(loop)(X)


def donated(i):
    def donated(x):
        return x * (1 + i / 3)

    return jax.jit(donated, donate_argnums=0)(jnp.array(X))


def dropout(i):
    def dropout(x):
        kept = jax.random.bernoulli(jax.random.split(jax.random.key(0))[0], 0.3 + i / 100, x.shape)
        return jnp.where(kept, x * (1 + i), 0)

    return jax.jit(dropout)(X)


def factored(i):
    def factored(x):
        return jnp.linalg.qr(x * (1 + i / 8))

    return jax.jit(factored)(X)


def callback(i):
    def callback(x):
        y = jax.pure_callback(lambda v: np.cumsum(v, dtype=np.float32).reshape(v.shape),
                              jax.ShapeDtypeStruct(x.shape, x.dtype), x * (1 + i))
        return y + i

    return jax.jit(callback)(X)


def shape(i):
    def shape(x):
        return x.ravel()[: i + 1].sum() + x[0]

    return jax.jit(shape)(LONG)


CASES = [learning_rate, counter, temperature, loss_scale, position, static_argument, closed_over, images,
         rematerialized, splat, iota_start, pad_start, slice_start, dynamic_slice_start, mask, loop, donated, dropout, factored,
         callback, shape]


def main():
    results = {}
    chosen = sys.argv[2:] or os.environ.get("FUNCTIONS", "").split()
    for case in [c for c in CASES if not chosen or c.__name__ in chosen]:
        for i in range(FIRST, FIRST + VALUES):
            for k, leaf in enumerate(jax.tree.leaves(case(i))):
                results[f"{case.__name__}.{i}.{k}"] = np.asarray(leaf)
    if not chosen or "learning_rate" in chosen:
        jax.clear_caches()
        results["after"] = np.asarray(learning_rate(3))
    np.savez(sys.argv[1], **results)


if __name__ == "__main__":
    main()
