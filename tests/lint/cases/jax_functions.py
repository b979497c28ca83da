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
    def other(self, x):  # clean: static-self
        return x * self.momentum  # expect: self-value


class Model:
    def __init__(self, width):
        self.width = width
        self.apply = jax.jit(self._apply)  # clean: fresh-jit

    @partial(jax.jit, static_argnums=0)
    def a(self, x):  # expect: static-self
        return x * self.width  # clean: self-value

    @partial(jax.jit, static_argnums=0)
    def twice(self, x):  # clean: static-self
        return x * 2

    def _apply(self, x):
        return x * self.width  # clean: self-value


class Numbered:
    @partial(jax.jit, static_argnums=(0, 2))
    def b(self, x, n):  # expect: static-self
        return x * n


class Named:
    @functools.partial(jax.jit, static_argnames=("self", "n"))
    def c(self, x, n):  # expect: static-self
        return x * n


class Alone:
    @functools.partial(jax.jit, static_argnames=("self",))
    def d(self, x):  # expect: static-self
        return x


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
    repeat(x, n=2, axes=[0, 1])  # expect: static-unhashable
    repeat(x, n=2, axes={"a": 1})  # expect: static-unhashable
    power(x, [2])  # expect: static-unhashable
    repeat(x, n=2, axes=[i for i in (0, 1)])  # expect: static-unhashable
    repeat(x, n=jnp.array(3))  # expect: static-unhashable
    repeat(x, n=2, axes=lambda v: v)  # expect: static-unhashable


def hashable(x):
    repeat(x, n=2, axes=(0, 1))  # clean: static-unhashable
    power([x, x], 2)  # clean: static-unhashable
    power(x, 2)  # clean: static-unhashable
    no_globals([x], {"a": 1})  # clean: static-unhashable
    repeat(x, n=LIMIT, axes=hashable)  # clean: static-unhashable


def update(state, batch):
    return state + batch


train = jax.jit(update, donate_argnums=(0,))
both = jax.jit(update, donate_argnums=(0, 1))
named = jax.jit(update, donate_argnames="state")


def reuse_1(state, batch):
    out = train(state, batch)
    return out + state  # expect: donated-reuse


def reuse_2(state, batches):
    for batch in batches:
        out = train(state, batch)  # expect: donated-reuse
    return out


def reuse_3(state, batch):
    new = both(state, batch)
    print(batch)  # expect: donated-reuse
    return new


def reuse_4(state, batch):
    new = named(state, batch)
    old = state * 2  # expect: donated-reuse
    return new, old


def reuse_5(state, batch):
    train(state, batch)
    return state  # expect: donated-reuse


def no_reuse(state, batches):
    for batch in batches:
        state = train(state, batch)  # clean: donated-reuse
    return state


def no_reuse_2(state, batch):
    out = train(state, batch)
    state = out  # clean: donated-reuse
    return state


def no_reuse_3(state, batch):
    out = train(state, batch)
    print(batch)  # clean: donated-reuse
    return out


def no_reuse_4(state, batch):
    if batch is None:
        return train(state, 1)  # clean: donated-reuse
    return state


def no_reuse_5(state, batch):
    state, metrics = train(state, batch), 1  # clean: donated-reuse
    return state, metrics


def flags():
    os.environ["JAX_DISABLE_JIT"] = "1"  # expect: debug-flags
    os.environ.setdefault("JAX_DEBUG_NANS", "True")  # expect: debug-flags
    jax.config.update("jax_debug_nans", True)  # expect: debug-flags
    jax.config.update("jax_check_tracer_leaks", True)  # expect: debug-flags
    os.environ["XLA_FLAGS"] = "--xla_dump_to=/tmp/x"  # expect: debug-flags
    os.environ["JAX_DISABLE_JIT"] = "0"  # clean: debug-flags
    jax.config.update("jax_debug_nans", False)  # clean: debug-flags
    jax.config.update("jax_enable_x64", True)  # clean: debug-flags
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"  # clean: debug-flags
    value = os.environ.get("JAX_DISABLE_JIT")  # clean: debug-flags
    return value


CACHE = "gs://bucket/cache"


def caches(bucket):
    jax.config.update("jax_compilation_cache_dir", "gs://bucket/cache")  # expect: remote-cache-path
    os.environ["JAX_COMPILATION_CACHE_DIR"] = "s3://bucket/cache"  # expect: remote-cache-path
    compilation_cache.set_cache_dir(f"gs://{bucket}/cache")  # expect: remote-cache-path
    jax.config.update("jax_compilation_cache_dir", CACHE)  # expect: remote-cache-path
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", "https://x/y")  # expect: remote-cache-path
    jax.config.update("jax_compilation_cache_dir", "/tmp/cache")  # clean: remote-cache-path
    os.environ["DATA"] = "gs://bucket/data"  # clean: remote-cache-path
    compilation_cache.set_cache_dir("cache")  # clean: remote-cache-path
    open_checkpoint = "gs://bucket/checkpoint"  # clean: remote-cache-path
    os.environ["JAX_COMPILATION_CACHE_DIR"] = os.path.join("/tmp", "c")  # clean: remote-cache-path
    return open_checkpoint


def barriers(xs):
    for x in xs:
        multihost_utils.sync_global_devices("step")  # expect: barrier-in-step
        square(x)
    while True:
        multihost_utils.sync_global_devices("again")  # expect: barrier-in-step
        break
    multihost_utils.sync_global_devices("end")  # clean: barrier-in-step
    for i, x in enumerate(xs):
        if i % 1000 == 0:
            multihost_utils.sync_global_devices("save")  # clean: barrier-in-step
    return np.asarray(xs)
