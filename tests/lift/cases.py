"""Functions of JAX that bake a drifting value into their program, run for each of many values. Writes
all results to the file that is named on the command line."""
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np

FIRST = int(os.environ.get("FIRST_VALUE", 0))
VALUES = int(os.environ.get("VALUES", 50))
X = np.linspace(-2, 2, 48, dtype=np.float32).reshape(8, 6)


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


def slice_start(i):
    start = i % 6

    def slice_start(x):
        return x[start : start + 2] * 2, jax.grad(lambda v: (v[start : start + 2] ** 2).sum())(x)

    return jax.jit(slice_start)(X)


def static_argument(i):
    return jitted_static(X, i / 7)


def static_number(x, scale):
    return jnp.tanh(x * scale)


jitted_static = jax.jit(static_number, static_argnums=1)


def splat(i):
    def splat(x):
        return x + jnp.full((8, 6), 0.25 * i), np.full((8, 6), 1.5 * i, np.float32) * x

    return jax.jit(splat)(X)


def closed_over(i):
    table = np.random.default_rng(i).standard_normal((6, 4)).astype(np.float32)

    def closed_over(x):
        return x @ table

    return jax.jit(closed_over)(X)


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
        return x.ravel()[: i + 1].sum() + x

    return jax.jit(shape)(X)


CASES = [learning_rate, counter, temperature, slice_start, static_argument, splat, closed_over, mask,
         loop, donated, dropout, factored, callback, shape]


def main():
    results = {}
    for case in CASES:
        for i in range(FIRST, FIRST + VALUES):
            for k, leaf in enumerate(jax.tree.leaves(case(i))):
                results[f"{case.__name__}.{i}.{k}"] = np.asarray(leaf)
    jax.clear_caches()
    results["after"] = np.asarray(learning_rate(3))
    np.savez(sys.argv[1], **results)


if __name__ == "__main__":
    main()
