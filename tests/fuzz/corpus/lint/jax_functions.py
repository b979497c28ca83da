"""How compiled functions are made and called, under JAX."""
import functools
import os
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.experimental.compilation_cache import compilation_cache

SCALE = 1.0
COUNT = 0
LIMIT = 10
TEMPERATURE = 0.5
ALPHA = 1.0
DECAY = 0.9
TABLE = {"a": 1}


def set_scale(value):
    global SCALE, TEMPERATURE, ALPHA
    SCALE = value
    TEMPERATURE = value / 2
    ALPHA = value


def set_decay(value):
    global DECAY
    DECAY = value


@jax.jit
def uses_globals(x):
    x = x * SCALE  # expect: global-value
    x = x / TEMPERATURE  # expect: global-value
    return x + ALPHA * x  # expect: global-value


def helper_of_jit(x):
    return x * DECAY  # expect: global-value


@jax.jit
def calls_helper(x):
    return helper_of_jit(x) + jnp.sum(x * SCALE)  # expect: global-value


@jax.jit
def no_globals(x, SCALE):
    y = x * SCALE  # clean: global-value
    z = y * LIMIT  # clean: global-value
    w = z + TABLE["a"]  # clean: global-value
    return w


def host_globals(x):
    return no_globals(x, SCALE) * ALPHA  # clean: global-value


@jax.jit
def shadowed(x):
    DECAY = 0.5
    return x * DECAY  # clean: global-value


@jax.jit
def counts(x):
    global COUNT
    COUNT += 1  # expect: python-counter
    return x


def host_counts(x):
    global COUNT
    COUNT += 1  # clean: python-counter
    return counts(x)


class Trainer:
    def __init__(self):
        self.lr = 1e-3
        self.width = 8
        self.calls = 0
        self.momentum = 0.9
        self.beta = 0.1
        self.step_fn = jax.jit(self.update)

    def set_lr(self, lr):
        self.lr = lr
        self.momentum = lr * 2
        self.beta = lr

    @partial(jax.jit, static_argnums=(0,))
    def step(self, params, grads):  # expect: static-self
        self.calls += 1  # expect: python-counter
        width = self.width  # clean: self-value
        return params - self.lr * grads * width  # expect: self-value

    def update(self, params):
        b = self.beta * 2  # expect: self-value
        m = self.momentum  # expect: self-value
        return params * self.lr + b + m  # expect: self-value

    def host_step(self, params):
        lr = self.lr * 2  # clean: self-value
        self.calls += 1  # clean: python-counter
        return self.step_fn(params) * lr

    @jax.jit
    def no_self(params, lr):  # clean: static-self
        return params * lr  # clean: self-value

    @partial(jax.jit, static_argnames=("self",))
    def other(self, x):  # expect: static-self
        return x * self.momentum  # expect: self-value


class Model:
    def __init__(self, width):
        self.width = width
        self.apply = jax.jit(self._apply)  # clean: fresh-jit

    @partial(jax.jit, static_argnums=0)
    def a(self, x):  # expect: static-self
        return x * self.width  # clean: self-value

    @partial(jax.jit, static_argnums=(0, 2))
    def b(self, x, n):  # expect: static-self
        return x * n

    @functools.partial(jax.jit, static_argnames=("self", "n"))
    def c(self, x, n):  # expect: static-self
        return x * n

    def _apply(self, x):
        return x * self.width  # clean: self-value


class Hashed:
    def __init__(self, width):
        self.width = width

    def __hash__(self):
        return hash(self.width)

    @partial(jax.jit, static_argnums=(0,))
    def step(self, x):  # clean: static-self
        return x * self.width  # clean: self-value

    def plain(self, x):  # clean: static-self
        return x

    @staticmethod
    @jax.jit
    def stat(x):  # clean: static-self
        return x

    @partial(jax.jit, static_argnums=(1,))
    def second(self, n):  # clean: static-self
        return n


def fresh(xs, scale):
    for x in xs:
        f = jax.jit(lambda v: v * scale)  # expect: fresh-jit
        f(x)
    for x in xs:
        g = jax.jit(partial(uses_globals, scale))  # expect: fresh-jit
        g(x)
    for x in xs:
        def local(v):
            return v + x

        jax.jit(local)(x)  # expect: fresh-jit
    while scale < 3:
        jax.jit(jax.grad(lambda v: v.sum()))(xs)  # expect: fresh-jit
        scale += 1
    return xs


def predict(x, scale):
    return jax.jit(lambda v: v * scale)(x)  # expect: fresh-jit


def loss_value(x):
    def inner(v):
        return v.sum()

    return jax.jit(inner)(x)  # expect: fresh-jit


square = jax.jit(lambda v: v * v)  # clean: fresh-jit


def not_fresh(fns, xs):
    table = {}
    for name, fn in fns:
        table[name] = jax.jit(fn)  # clean: fresh-jit
    for x in xs:
        square(x)  # clean: fresh-jit
    for x in xs:
        jax.jit(update)(x, x)  # clean: fresh-jit
    return table


@functools.lru_cache
def compiled_for(n):
    return jax.jit(lambda v: v * n)(jnp.ones(3))  # clean: fresh-jit


def make_step(scale):
    return jax.jit(lambda v: v * scale)  # clean: fresh-jit


@partial(jax.jit, static_argnames=("n", "axes"))
def repeat(x, n, axes=()):
    return jnp.tile(x, n)


@partial(jax.jit, static_argnums=(1,))
def power(x, p):
    return x ** p


def vary(x, batches, mask):
    for i in range(10):
        repeat(x, n=i)  # expect: static-argument
        power(x, i + 1)  # expect: static-argument
        power(x, i)  # expect: static-argument
    n = 0
    while n < 10:
        power(x, n)  # expect: static-argument
        n += 1
    repeat(x, n=int(mask.sum()))  # expect: static-argument
    for i, batch in enumerate(batches):
        repeat(batch, i)  # expect: static-argument
        repeat(batch, n=i * 2)  # expect: static-argument


def steady(x, batches):
    for i in range(10):
        repeat(x, n=4)  # clean: static-argument
        power(x * i, 2)  # clean: static-argument
        no_globals(x, i)  # clean: static-argument
        repeat(x + i, 3)  # clean: static-argument
    for batch in batches:
        power(batch, LIMIT)  # clean: static-argument


def unhashable(x):
    repeat(x, n=2, ax