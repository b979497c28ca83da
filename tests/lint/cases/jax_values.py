"""Values of traced arrays in Python's hands, under JAX."""
import logging
import math
import os
import random
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

logger = logging.getLogger(__name__)


@jax.jit
def branches(x, y):
    if x.sum() > 0:  # expect: value-branch
        y = -y
    if jnp.any(jnp.isnan(y)):  # expect: value-branch
        y = jnp.zeros_like(y)
    while x[0] < 3:  # expect: value-branch
        x = x + 1
    z = x if y.max() > 1.0 else y  # expect: value-branch
    assert (z >= 0).all()  # expect: value-branch
    if not jnp.allclose(x, y) and x.ndim == 2:  # expect: value-branch
        z = z + 1
    return z


@jax.jit
def no_branches(x, y, scale=None, mode="train"):
    if x.shape[0] > 3:  # clean: value-branch
        x = x * 2
    if x.ndim == 2 and len(y) > 4:  # clean: value-branch
        y = y[:4]
    if scale is None:  # clean: value-branch
        scale = 1.0
    if isinstance(y, tuple):  # clean: value-branch
        y = y[0]
    if mode == "train":  # clean: value-branch
        x = x + 1
    if x.dtype == jnp.float32:  # clean: value-branch
        x = x + 1
    return jnp.where(x > 0, x, y) * scale


def eager(x):
    if x.sum() > 0:  # clean: value-branch
        return float(x)  # clean: host-sync
    return x


@jax.jit
def fields(batch, x):
    if "mask" in batch:  # expect: optional-key
        x = x * batch["mask"]
    if "bias" not in batch:  # expect: optional-key
        x = x + 1
    weights = batch.get("weights")  # expect: optional-key
    ids = batch["ids"] if "ids" in batch else None  # expect: optional-key
    if x is not None and "extra" in batch:  # expect: optional-key
        x = x + batch["extra"]
    return x, weights, ids


NAMES = {"mask": 1}


@partial(jax.jit, static_argnames=("config",))
def no_fields(batch, x, config, names=("a", "b")):
    if "mask" in NAMES:  # clean: optional-key
        x = x + 1
    if "dropout" in config:  # clean: optional-key
        x = x * 0.5
    if "a" in names:  # clean: optional-key
        x = x + batch["ids"]
    size = os.environ.get("SIZE")  # clean: optional-key
    kind = NAMES.get("kind")  # clean: optional-key
    return x, size, kind


@jax.jit
def ranks(x, rank):
    if jax.process_index() == 0:  # expect: rank-branch
        x = x + 1
    if rank == 0:  # expect: rank-branch, value-branch
        x = x * 2
    return x


@jax.jit
def named_rank(x, rank: int):
    if rank == 0:  # clean: rank-branch
        x = x * 2
    return x


@jax.jit
def other_name(x, who):
    if who == 0:  # expect: rank-branch, value-branch
        x = x * 2
    return x


def calls_ranks(x):
    first = jax.process_index()
    named_rank(x, 3)
    return ranks(x, jax.process_index()) + other_name(x, first)


@jax.jit
def from_the_environment(x):
    if int(os.environ.get("LOCAL_RANK", "0")) == 0:  # expect: rank-branch
        x = x + 1
    return x


@jax.jit
def no_ranks(x):
    if x.ndim == 3:  # clean: rank-branch
        x = x[0]
    ranked = jnp.argsort(x)
    if ranked.shape == x.shape:  # clean: rank-branch
        x = x + ranked
    return x + lax.axis_index("i")


def on_host(x):
    if jax.process_index() == 0:  # clean: rank-branch
        print(x)  # clean: traced-print
    return x


@jax.jit
def every_n(state, batch, step: int):
    if step % 100 == 0:  # expect: logging-branch
        state = state + 1
    if batch is not None and (step + 1) % 10 == 0:  # expect: logging-branch
        state = state - 1
    return state


def train_every_n(state, batches):
    for turn, batch in enumerate(batches):
        state = every_n(state, batch, step=turn)
    return state


@jax.jit
def not_every_n(x, n_heads: int):
    if n_heads % 2 == 0:  # clean: logging-branch
        x = x + 1
    if x.shape[0] % 8 == 0:  # clean: logging-branch
        x = x * 2
    for step in range(4):
        if step % 2 == 0:  # clean: logging-branch
            x = x + step
    return x


def train_loop(state, batches):
    for step, batch in enumerate(batches):
        state = branches(state, batch)
        if step % 100 == 0:  # clean: logging-branch
            print(step, state)  # clean: traced-print
    return state


@jax.jit
def syncs(x, y):
    a = x.item()  # expect: host-sync
    b = float(y.mean())  # expect: host-sync
    c = np.asarray(x)  # expect: host-sync
    d = jax.device_get(y)  # expect: host-sync
    e = int(jnp.max(x))  # expect: host-sync
    f = math.sqrt(x[0])  # expect: host-sync
    g = (x + y).tolist()  # expect: host-sync
    x.block_until_ready()  # expect: host-sync
    return a, b, c, d, e, f, g


@partial(jax.jit, static_argnums=(1,))
def no_syncs(x, n):
    a = int(x.shape[0] // 2)  # clean: host-sync
    b = float(n)  # clean: host-sync
    c = np.arange(8)  # clean: host-sync
    d = math.sqrt(x.shape[-1])  # clean: host-sync
    e = np.prod(x.shape)  # clean: host-sync
    return x.astype(float) * a + b + c.sum() + d + e


@jax.jit
def prints(x, y):
    print(x)  # expect: traced-print
    print(x + 1, y)  # expect: traced-print
    print(f"loss {x.mean()}")  # expect: traced-print
    logger.info("loss %s", x)  # expect: traced-print
    logging.warning(y)  # expect: traced-print
    return x


@jax.jit
def no_prints(x, y):
    print("tracing")  # clean: traced-print
    print("shape", x.shape)  # clean: traced-print
    jax.debug.print("x {}", x)  # clean: traced-print
    logger.info("compiling for %s", x.dtype)  # clean: traced-print
    return x + y


@jax.jit
def effects(x):
    start = time.time()  # expect: traced-side-effect
    noise = np.random.normal(size=3)  # expect: traced-side-effect
    if random.random() < 0.5:  # expect: traced-side-effect
        x = x + 1
    with open("log.txt", "w") as f:  # expect: traced-side-effect
        f.write("x")
    tick = time.perf_counter()  # expect: traced-side-effect
    return x + noise, start, tick


@jax.jit
def no_effects(x, key):
    noise = jax.random.normal(key, (3,))  # clean: traced-side-effect
    path = os.path.join("a", "b")  # clean: traced-side-effect
    del path
    return x + noise


def timed(x):
    start = time.time()  # clean: traced-side-effect
    noise = np.random.normal(size=3)  # clean: traced-side-effect
    with open("log.txt", "w") as f:  # clean: traced-side-effect
        f.write(str(branches(x, noise)))
    return time.time() - start


def inner_helper(v):
    if v > 0:  # expect: value-branch
        return v
    return -v


def outer_caller(x):
    def body(carry, row):
        return carry + inner_helper(row), row.item()  # expect: host-sync

    return lax.scan(body, 0.0, x)


def host_helper(v):
    if v > 0:  # clean: value-branch
        return v.item()  # clean: host-sync
    return -v


@jax.jit
def reports_through_callbacks(x):
    def write(v):
        with open("log.txt", "a") as f:  # clean: traced-side-effect
            f.write(str(float(v)))  # clean: host-sync

    def host(v):
        if v > 0:  # clean: value-branch
            return np.float32(v)
        return np.float32(time.time())  # clean: traced-side-effect

    jax.debug.callback(write, x)
    return jax.pure_callback(host, jax.ShapeDtypeStruct((), jnp.float32), x)


def next_multiple(n, m):
    return (n + m - 1) // m * m


@partial(jax.jit, static_argnames=["block"])
def pads_by_sizes(x, *, block=8):
    n, _ = x.shape
    padded = next_multiple(n, block)
    if padded // block > 1:  # clean: value-branch
        x = x * 2
    return x


@jax.jit
def compares_the_rank_of_an_array(x, pad):
    rank = x.ndim
    if len(pad) == rank:  # clean: rank-branch
        return x + 1
    return x.astype(np.result_type(x))  # clean: host-sync


@jax.jit
def compares_a_length(x, pad, rank):
    if isinstance(pad, tuple) and len(pad) == rank:  # clean: rank-branch
        return x + 1
    return x


@jax.jit
def checks_the_type_first(x, g):
    if isinstance(g, int) and g == 1:  # clean: value-branch
        return x
    return x * g


unset = object()
LIMIT = 3


@jax.jit
def given(x, state=unset, limit=LIMIT):
    if state == unset:  # clean: value-branch
        state = x * 2
    if state == x.sum():  # expect: value-branch
        state = x
    return state


@jax.jit
def refuses(x, mode):
    if x.shape[0] > 4:
        worst = x.max().item()  # clean: host-sync
        raise ValueError(worst)
    if x.ndim == 2:
        first = x.min().item()  # expect: host-sync
        return first
    return x


depth = 0
calls = 0


def nested(x):
    global depth, calls
    depth += 1  # clean: python-counter
    calls += 1  # expect: python-counter
    y = jnp.sin(x) if depth else x  # clean: global-value
    depth -= 1  # clean: python-counter
    return y


@jax.jit
def enters(x):
    return nested(x)


def untraced(x, n):
    if n == 3:  # clean: late-branch
        return x * 2
    return x


@jax.jit
def with_part(x):
    return untraced(x, 3)


def on_the_host(x):
    for n in range(9):
        x = untraced(x, n)
    return x


@jax.jit
def both_losses(x):
    return x.sum(), x.mean()


@partial(jax.jit, static_argnames=("axis", "count"))
def along(x, axis=0, count=1):
    return x.sum(axis) * count


def measured(x):
    for axis in range(x.ndim):
        along(x, axis=axis)  # clean: static-argument
    for count in range(9):
        along(x, count=count)  # expect: static-argument
    for _ in range(3):
        total, mean = jax.tree.map(float, both_losses(x))
        rest = int(total / mean)  # clean: host-sync
    return rest


@jax.jit
def shown(tree, x):
    logger.info("shapes: %s", jax.tree.map(jnp.shape, tree))  # clean: traced-print
    logger.info("doubled: %s", jax.tree.map(jnp.sin, x))  # expect: traced-print
    return x


@jax.jit
def masked(x, mask=None):
    return x if mask is None else x * mask


def in_turns(parts, masks, wanted):
    for i, part in enumerate(parts):
        masked(part, mask=None if masks is None else masks[i])  # clean: optional-key
        masked(part, mask=None if i % 2 else wanted)  # expect: optional-key


def inner_size(x, n):
    return x * 3 if n == 4 else x  # clean: late-branch


@jax.jit
def with_inner(x):
    return inner_size(x, 4)


def middle(x, n):
    return inner_size(x, n)


def outer_loop(x):
    for n in range(9):
        x = middle(x, n)
    return x


@jax.jit
def required(batch):
    if "image" not in batch:  # clean: optional-key
        raise ValueError("no image")
    assert "label" in batch, "no label"  # clean: optional-key
    mask = batch.get("mask")  # clean: optional-key
    if mask is None:
        raise ValueError("no mask")
    if "weight" in batch:  # expect: optional-key
        mask = mask * batch["weight"]
    if "forbidden" in batch:  # expect: optional-key
        raise ValueError("forbidden")
    return batch["image"] * mask
