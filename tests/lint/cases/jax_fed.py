"""What jitted functions are fed: sizes, ranks, dtypes, fields, None, objects, closures."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.experimental import pallas as pl
from jax.experimental.layout import Format, Layout
from jax.sharding import NamedSharding, PartitionSpec

BATCH = 8
ROWS = 64
ODD = 70


@jax.jit
def step(params, x, mask=None):
    return params


def sizes(rng, params, loader):
    for n in (4, 6, 9):
        x = np.zeros((n, 3), np.float32)
        step(params, x)  # expect: shape-drift
        step(params, rng.normal(size=(n, 3)).astype(np.float32))  # expect: shape-drift
        step(params, jnp.ones((BATCH, n)))  # expect: shape-drift
        step(params, np.zeros((BATCH, 3), np.float32))  # clean: shape-drift
        step(params, np.full((BATCH, 3), n))  # clean: shape-drift
        padded = np.zeros((16, 3), np.float32)
        padded[:n] = 1.0
        step(params, padded)  # clean: shape-drift
    length = 4
    for _ in range(10):
        step(params, np.zeros(length))  # expect: shape-drift
        length += 2
    for tokens in lengths(rng):
        step(params, tokens)  # expect: shape-drift
    for x in loader:
        step(params, x)  # clean: shape-drift
    step(params, np.zeros((2, 3)))
    for _ in range(3):
        step(params, np.zeros((BATCH, BATCH)))  # clean: shape-drift


def lengths(rng):
    for longest in (3, 5, 8):
        yield rng.integers(0, 9, size=(BATCH, longest))


def ranks(rng, params, single, flip):
    x = np.zeros((BATCH, 3), np.float32)
    if single:
        x = x[0]
    step(params, x)  # expect: rank-change
    y = np.zeros(3) if single else np.zeros((2, 3))
    step(params, y)  # expect: rank-change
    labels = (np.zeros((BATCH, 3))[:, 0] > 0).astype(np.int32)
    if flip:
        labels = labels[:, None]
    step(params, labels)  # expect: rank-change
    rows = [np.zeros((2, 3)) for _ in range(4)]
    rows.append(np.zeros(3))
    for row in rows:
        step(params, row)  # expect: rank-change
    z = np.zeros((2, 3))
    if flip:
        z = z.reshape(6)
    step(params, z)  # expect: rank-change
    a = np.zeros(3)
    a = a[None]
    step(params, a)  # clean: rank-change
    b = np.zeros((2, 3)) if single else np.ones((2, 3))
    step(params, b)  # clean: rank-change
    if single:
        c = np.zeros((1, 3))
    else:
        c = np.ones((1, 3))
    step(params, c)  # clean: rank-change
    same = [np.zeros((2, 3)), np.ones((2, 3))]
    for row in same:
        step(params, row)  # clean: rank-change
    tree = [np.zeros((4, 3)), np.zeros(3)]
    step(params, tree)  # clean: rank-change, dtype-change, shape-drift
    d = np.zeros((4, 3))
    d = d[0]
    step(params, d)  # clean: rank-change


@jax.jit
def decode(params, cache, token):
    return cache.astype(jnp.bfloat16), token


@jax.jit
def scaled(params, scale):
    return params, scale


def dtypes(rng, params, raw):
    x = np.zeros((BATCH, 3), np.uint8)
    if raw:
        x = x.astype(np.float32)
    step(params, x)  # expect: dtype-change (note)
    y = np.ones(3, np.float32) if raw else np.ones(3, np.float64)
    step(params, y)  # expect: dtype-change (note)
    cache = np.zeros((4, 4), np.float32)
    token = np.zeros(4, np.float32)
    for _ in range(7):
        cache, token = decode(params, cache, token)  # expect: dtype-change
    scale = 0.05
    for _ in range(7):
        params, scale = scaled(params, scale)  # expect: dtype-change
    z = np.zeros(3, np.int32) if raw else np.zeros(3, dtype="int64")
    step(params, z)  # expect: dtype-change (note)
    a = np.zeros(3, np.uint8)
    a = a.astype(np.float32)
    step(params, a)  # clean: dtype-change
    b = np.zeros(3, np.float32) if raw else rng.normal(size=3).astype(np.float32)
    step(params, b)  # clean: dtype-change
    scale = jnp.float32(0.05)
    for _ in range(7):
        params, scale = scaled(params, scale)  # clean: dtype-change
    rate = 0.05
    for _ in range(7):
        params, _unused = scaled(params, rate)  # clean: dtype-change
    c = np.zeros(3, np.float32)
    if raw:
        c = c * 2.0
    step(params, c)  # clean: dtype-change


@jax.jit
def micro(params, acc, x):
    return acc


def accumulate(params, batches):
    for _ in range(6):
        acc = None
        for x in batches:
            acc = micro(params, acc, x)  # expect: grad-from-none
        total = None
        for i in range(3):
            total = micro(params, total, i)  # expect: grad-from-none
        params = acc
    while params:
        grads = None
        for x in batches:
            grads = micro(params, grads, x)  # expect: grad-from-none
        sums = None
        for x in batches:
            sums = micro(params, sums, x=x)  # expect: grad-from-none
        part, acc = None, None
        for x in batches:
            acc = micro(params, acc, x)  # expect: grad-from-none
    momentum = None
    for x in batches:
        momentum = micro(params, momentum, x)  # clean: grad-from-none
    for _ in range(6):
        acc = jnp.zeros(3)
        for x in batches:
            acc = micro(params, acc, x)  # clean: grad-from-none
    for _ in range(6):
        acc = None
        for x in batches:
            last = micro(params, None, x)  # clean: grad-from-none
    for _ in range(6):
        for x in batches:
            out = micro(params, params, x)  # clean: grad-from-none
    state = None
    for _ in range(6):
        for x in batches:
            state = micro(params, state, x)  # clean: grad-from-none


class Config:
    def __init__(self, rate):
        self.rate = rate


class Equal:
    def __init__(self, rate):
        self.rate = rate

    def __eq__(self, other):
        return self.rate == other.rate

    def __hash__(self):
        return hash(self.rate)


@functools.partial(jax.jit, static_argnums=0)
def configured(config, params):
    return params


def objects(params, rate):
    for _ in range(5):
        config = Config(rate)
        params = configured(config, params)  # expect: static-object
        params = configured(Config(rate), params)  # expect: static-object
        params = configured(Config(0.1), params)  # expect: static-object
        equal = Equal(rate)
        params = configured(equal, params)  # clean: static-object
        params = configured(Equal(0.1), params)  # clean: static-object
    while params:
        fresh = Config(1.0)
        configured(fresh, params)  # expect: static-object
    for _ in range(2):
        for _ in range(3):
            other = Config(2.0)
            configured(other, params)  # expect: static-object
    once = Config(rate)
    for _ in range(5):
        params = configured(once, params)  # clean: static-object
    configured(Config(rate), params)  # clean: static-object
    for _ in range(5):
        configured(rate, Config(rate))  # clean: static-object


class Trainer:
    def __init__(self, deep):
        self.penalise = False
        self.deep = deep
        self.scale = 1.0

    def loss(self, weights, x):
        y = x @ weights
        if self.penalise:  # expect: late-branch
            y = y + 1
        if not self.penalise:  # expect: late-branch
            y = y + 2
        if self.deep:  # clean: late-branch
            y = y * 2
        return y * self.scale  # expect: self-value

    def make(self):
        return jax.jit(self.loss)


def switch(weights, x):
    trainer = Trainer(True)
    for turn in range(14):
        if turn == 9:
            trainer.penalise = True
            trainer.scale = 0.5
        trainer.make()(weights, x)


@functools.partial(jax.jit, static_argnames=("report", "mode", "deep"))
def reported(params, x, report=False, mode="a", deep=True):
    if report:  # expect: late-branch
        x = x * 2
    if mode == "a":  # expect: late-branch
        x = x * 3
    y = x if not report else x + 1  # expect: late-branch
    if deep:  # clean: late-branch
        y = y + 1
    if x.shape[0] > 2:  # clean: late-branch
        y = y + 2
    if params is None:  # clean: late-branch
        y = y + 3
    return y


def drive(params, x):
    for turn in range(9):
        reported(params, x, report=turn == 5, deep=True)  # expect: static-argument
    for mode in ("a", "b"):
        reported(params, x, mode=mode)  # expect: static-argument


def plain_helper(flag, x):
    if flag:  # clean: late-branch
        return x
    return -x


def untraced(x):
    for turn in range(9):
        plain_helper(turn == 3, x)


def forward(weights, x):
    return x @ weights


def donations(weights, x):
    for purpose in ["train", "checkpoint"]:
        donated = (0,) if purpose == "train" else ()
        jax.jit(forward, donate_argnums=donated).lower(weights, x)  # expect: donation-change
        jax.jit(forward, donate_argnums=(0,) if purpose == "train" else ())  # expect: donation-change
        jax.jit(forward, donate_argnames="weights" if purpose == "train" else None)  # expect: donation-change
        jax.jit(forward, donate_argnums=(0,)).lower(weights, x)  # clean: donation-change
        jax.jit(forward, donate_argnums=0)  # clean: donation-change
    for keep in (True, False):
        step_of = jax.jit(forward, donate_argnums=() if keep else (0,))  # expect: donation-change
        donating(weights, keep)
    jax.jit(forward, donate_argnums=(0, 1))  # clean: donation-change
    jax.jit(forward, donate_argnames=("weights",))  # clean: donation-change
    same(weights, True)


def donating(weights, keep):
    choice = keep
    return jax.jit(forward, donate_argnums=choice)  # expect: donation-change


def same(weights, keep):
    return jax.jit(forward, donate_argnums=keep)  # clean: donation-change


def shardings(mesh, weights, x, fixed):
    for spec in [PartitionSpec("data"), PartitionSpec("model")]:
        jax.jit(forward, in_shardings=NamedSharding(mesh, spec))  # expect: sharding-change
        jax.jit(forward, out_shardings=NamedSharding(mesh, spec))  # expect: sharding-change
        jax.jit(forward, in_shardings=(NamedSharding(mesh, spec), None))  # expect: sharding-change
        jax.jit(forward, in_shardings=NamedSharding(mesh, fixed))  # clean: sharding-change
        jax.jit(forward, out_shardings=NamedSharding(mesh, PartitionSpec("data")))  # clean: sharding-change
        compile_for(mesh, spec)
    for name in ("data", "model"):
        where = NamedSharding(mesh, PartitionSpec(name))
        jax.jit(forward, in_shardings=(where, where))  # expect: sharding-change
    jax.jit(forward, in_shardings=None)  # clean: sharding-change
    compile_once(mesh, fixed)


def compile_for(mesh, spec):
    def described(how, *dims):
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=NamedSharding(mesh, how))

    return jax.jit(forward).lower(described(None, 2), described(spec, 3))  # expect: sharding-change


def compile_once(mesh, spec):
    def described(how, *dims):
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=NamedSharding(mesh, how))

    jax.jit(forward).lower(described(spec, 2))  # clean: sharding-change
    return jax.jit(forward).lower(described(spec, 2), described(None, 3))  # clean: sharding-change


def layouts(where, fixed):
    for order in [(0, 1), (1, 0)]:
        stored = Format(Layout(major_to_minor=order), where)
        jax.jit(forward, in_shardings=(stored, where))  # expect: layout-change
        jax.jit(forward, in_shardings=stored)  # expect: layout-change
        jax.jit(forward, out_shardings=stored)  # expect: layout-change
        jax.jit(forward, in_shardings=Format(Layout(order), where))  # expect: layout-change
        jax.jit(forward, out_shardings=(where, stored))  # expect: layout-change
        jax.jit(forward, in_shardings=Format(Layout((0, 1)), where))  # clean: layout-change
        jax.jit(forward, in_shardings=Format(fixed, where))  # clean: layout-change
        jax.jit(forward, in_shardings=where)  # clean: layout-change
    kept = Format(Layout((1, 0)), where)
    jax.jit(forward, in_shardings=kept)  # clean: layout-change
    jax.jit(forward, out_shardings=kept)  # clean: layout-change


def options(weights, x):
    for debug in [False, True]:
        chosen = {"xla_cpu_enable_fast_math": debug}
        jax.jit(forward, compiler_options=chosen)  # expect: options-drift
        jax.jit(forward).lower(weights, x).compile(compiler_options=chosen)  # expect: options-drift
        jax.jit(forward).lower(weights, x).compile(compiler_options={"a": debug})  # expect: options-drift
        jax.jit(forward, compiler_options={"a": True})  # clean: options-drift
        built(weights, x, debug)
    for level in range(3):
        jax.jit(forward, compiler_options={"xla_level": level})  # expect: options-drift
    fixed = {"xla_level": 1}
    jax.jit(forward, compiler_options=fixed)  # clean: options-drift
    jax.jit(forward).lower(weights, x).compile(compiler_options=fixed)  # clean: options-drift
    jax.jit(forward).lower(weights, x).compile()  # clean: options-drift
    built_once(weights, x, True)


def built(weights, x, debug):
    return jax.jit(forward).lower(weights, x).compile(compiler_options={"a": debug})  # expect: options-drift


def built_once(weights, x, debug):
    return jax.jit(forward).lower(weights, x).compile(compiler_options={"a": debug})  # clean: options-drift


def kernel(x_ref, out_ref):
    out_ref[...] = x_ref[...]


@jax.jit
def with_kernels(x, y):
    if x.shape[0] % 128 == 0:  # expect: kernel-fallback
        x = pl.pallas_call(kernel, out_shape=x)(x)
    if x.shape[-1] >= 256:  # expect: kernel-fallback
        x = pl.pallas_call(kernel, out_shape=x)(x)
    else:
        x = x * 2
    if y.size > 4096:  # expect: kernel-fallback
        y = jax.ffi.ffi_call("fast", y)(y)
    if y.shape[1] == 8:  # expect: kernel-fallback
        y = pl.pallas_call(kernel, out_shape=y)(y)
    if x.shape != y.shape:  # expect: kernel-fallback
        y = pl.pallas_call(kernel, out_shape=y)(y)
    if x.shape[0] % 128 == 0:  # clean: kernel-fallback
        x = x * 2
    if x.shape[0] > 4:  # clean: kernel-fallback
        x = jnp.sin(x)
    if x is None:  # clean: kernel-fallback
        return pl.pallas_call(kernel, out_shape=y)(y)
    z = pl.pallas_call(kernel, out_shape=x)(x)  # clean: kernel-fallback
    return z + y


def outside_kernel(x):
    if x.shape[0] % 128 == 0:  # clean: kernel-fallback
        return pl.pallas_call(kernel, out_shape=x)(x)
    return x


@jax.jit
def embed(params, rows):
    return rows @ params


@jax.jit
def restart(params):
    return params


def between(params, loader, mask, flags):
    for turn, rows in enumerate(loader):
        hidden = embed(params, rows)
        float(jnp.std(hidden))  # expect: host-sync
        (hidden - rows).max().item()  # expect: host-sync
        norm = jnp.sum(hidden)
        print(float(norm))  # expect: host-sync
        print(float(hidden))  # clean: host-sync
        if turn % 10 == 0:
            print(float(jnp.std(hidden)))  # clean: host-sync
        picked = hidden[hidden > 0]  # expect: mask-gather
        named = hidden[mask]  # clean: mask-gather
        chosen = hidden[jnp.nonzero(flags)[0]]  # expect: mask-gather
        first = hidden[0]  # clean: mask-gather
        some = hidden[2:5]  # clean: mask-gather
        if float(hidden) > 3.0:  # expect: value-branch
            params = restart(params)
        if float(hidden) > 3.0:  # clean: value-branch
            print("large")
    return float(jnp.std(params))  # clean: host-sync


def optional(params, x, padded):
    for turn in range(9):
        mask = np.ones(3) if turn in (3, 5) else None
        step(params, x, mask)  # expect: optional-key
        batch = {"x": x}
        if turn == 4:
            batch["weight"] = x
        step(params, batch)  # expect: optional-key
        whole = {"x": x}
        whole["weight"] = x
        step(params, whole)  # clean: optional-key
        other = np.ones(3) if turn in (3, 5) else np.zeros(3)
        step(params, x, other)  # clean: optional-key
        shift = np.ones(3) if turn in (3, 5) else None
        if padded:
            step(params, x, shift * 2)  # clean: optional-key
            step(params, x, shift.astype(x.dtype))  # clean: optional-key


def last(params, x, order):
    for at in range(0, ODD, BATCH):
        step(params, x[at : at + BATCH])  # expect: last-batch
        step(params, x[at : at + BATCH] * 2)  # clean: last-batch
    for at in range(0, ODD, BATCH):
        rows = order[at : at + BATCH]
        step(params, x[rows])  # expect: last-batch
    for at in range(0, len(x), BATCH):
        step(params, x[at : at + BATCH])  # expect: last-batch
    for at in range(0, ROWS, BATCH):
        step(params, x[at : at + BATCH])  # clean: last-batch
    for at in range(0, len(x) - 7, 8):
        step(params, x[at : at + 8])  # clean: last-batch
    for at in range(0, len(x) - BATCH + 1, BATCH):
        step(params, x[at : at + BATCH])  # clean: last-batch
    for at in range(0, len(x) // BATCH * BATCH, BATCH):
        step(params, x[at : at + BATCH])  # clean: last-batch
    for at in range(0, len(x) - 2, 8):
        step(params, x[at : at + 8])  # expect: last-batch
    for at in range(0, ODD, BATCH):
        step(params, x[at])  # clean: last-batch


def make_step(rate, width):
    @jax.jit
    def train(params, x):
        return params - rate * x * width  # expect: baked-constant

    return train


def make_other(rate):
    @jax.jit
    def train(params, x):
        return params - rate * x  # clean: baked-constant

    return train


def schedules(params, x):
    rate = 0.1
    for _ in range(4):
        make_step(rate, 8)(params, x)
        rate = rate * 0.5
    make_other(0.1)(params, x)
    for beta in np.linspace(0.1, 0.9, 5):
        jax.jit(functools.partial(forward, x=float(beta)))  # expect: baked-constant
        jax.jit(functools.partial(forward, x=x))  # expect: fresh-jit


def apply_once(objective, weights):
    update = jax.jit(lambda w: w - objective(w))  # expect: fresh-jit
    return update(weights)


def apply_kept(objective, weights):
    update = jax.jit(lambda w: w - objective(w))  # clean: fresh-jit
    return update


def apply_elsewhere(objective, weights):
    update = jax.jit(lambda w: w - objective(w))  # clean: fresh-jit
    return update(weights)


def repeat(weights):
    for _ in range(5):
        weights = apply_once(forward, weights)
        kept = apply_kept(forward, weights)
    return apply_elsewhere(forward, weights)


@functools.partial(jax.jit, static_argnums=1)
def numbered(params, calls):
    return params


class Model:
    def __init__(self):
        self.calls = 0
        self.width = 8
        self.params = None

    def train(self):
        self.calls += 1
        numbered(self.params, self.calls)  # expect: python-counter
        numbered(self.params, self.width)  # clean: python-counter


@functools.partial(jax.jit, static_argnums=0)
def with_rate(rate, grads, state):
    fixed = optax.sgd(0.1)  # clean: optimizer-scalar
    return optax.adamw(rate).update(grads, state), fixed  # expect: optimizer-scalar


@functools.partial(jax.jit, static_argnums=(1,))
def smooth(signal, decay=0.9):
    return signal


def smoothing(signal):
    for turn in range(9):
        if turn == 4:
            smooth(signal, 0.5)  # expect: static-argument
        else:
            smooth(signal)
        smooth(signal, 0.9)  # clean: static-argument
