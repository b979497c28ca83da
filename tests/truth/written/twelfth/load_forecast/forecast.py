from collections import namedtuple
from functools import partial

import jax
import jax.numpy as jnp

Fold = namedtuple("Fold", "number origin")
LAGS = 4


def folds(count, first, stride):
    for i in range(count):
        yield Fold(i, first + i * stride)


def design(chunk):
    n = chunk.shape[0] - LAGS
    cols = [chunk[j:j + n] for j in range(LAGS)] + [jnp.ones(n)]
    return jnp.stack(cols, 1), chunk[LAGS:]


@partial(jax.jit, static_argnums=(2, 3))
def refit(coef, series, origin, span):
    chunk = series[origin:origin + span]
    x, y = design(chunk)

    def body(c, _):
        g = x.T @ (x @ c - y) / y.shape[0]
        return c - 0.05 * g, None

    coef, _ = jax.lax.scan(body, coef, None, length=20)
    return coef, jnp.abs(x @ coef - y).mean()


@jax.jit
def calibrate(level, readings):
    return 0.8 * level + 0.2 * (readings / 10.0).mean()


@jax.jit
def project(coef, tail, level):
    return tail @ coef[:-1] + coef[-1] + level
