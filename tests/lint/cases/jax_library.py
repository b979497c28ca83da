"""Library code under jit: settings, host callbacks, sizes, checked types, code that runs once."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

_setting = 1.0
_step_scale = 1.0


def set_setting(value):
    global _setting
    _setting = value


def anneal():
    global _step_scale
    _step_scale = _step_scale * 0.9


@jax.jit
def scaled(x):
    x = x * _setting  # expect: global-value (note)
    return x * _step_scale  # expect: global-value (warning)


def train(x):
    for _ in range(10):
        anneal()
        x = scaled(x)
    return x


# jax.grad traces what it differentiates; the other arguments are what the caller gives.
def loss_of(params, config, batch):
    if config.layers > 1:  # clean: value-branch
        params = params * 2
    if params.sum() > 0:  # expect: value-branch
        params = params + 1
    return (params * batch).sum()


def loss_second(limit, params):
    if limit > 3:  # clean: value-branch
        params = params * 2
    if jnp.any(params > 3):  # expect: value-branch
        params = params + 1
    return params.sum()


def train_grads(params, config, batch):
    grads = jax.value_and_grad(loss_of)(params, config, batch)
    return grads, jax.grad(loss_second, argnums=1)(4, params)


# A function of the host may read values.
def host_read(value):
    if value > 0:  # clean: value-branch
        return np.float32(value)  # clean: host-sync
    return np.float32(0)


def traced_read(value):
    return np.float32(value)  # expect: host-sync


@jax.jit
def calls_host(x):
    y = io_callback(functools.partial(host_read), jax.ShapeDtypeStruct((), jnp.float32), x)
    return y + traced_read(x)


# The text of an error costs nothing unless the step fails.
@jax.jit
def complains(x):
    if x.shape[0] < 2:
        raise ValueError(f"too short: {float(x[0])}")  # clean: host-sync
    assert x.ndim == 2, f"not a matrix: {float(x[0])}"  # clean: host-sync
    return x * float(x[0])  # expect: host-sync


@jax.jit
def computed_while_tracing(x):
    with jax.ensure_compile_time_eval():
        scale = float(jnp.mean(jnp.arange(4)))  # clean: host-sync
        if jnp.sum(jnp.arange(4)) > 3:  # clean: value-branch
            scale = scale * 2
    return x * scale


@jax.jit
def checks_types(x, scale, limit):
    if isinstance(scale, (int, float)):
        x = x * float(scale)  # clean: host-sync
    if isinstance(scale, np.ndarray) and scale.ndim:
        x = x + float(scale)  # clean: host-sync
    if isinstance(limit, (int, jax.Array)):
        x = x + float(limit)  # expect: host-sync
    return x


# Ranks and lengths of lists are no sizes.
@jax.jit
def over_axes(x, parts):
    for _ in range(len(x.shape) - 1):  # clean: python-loop
        x = x.sum(0)
    sizes = [x.size, x.size // 2]
    for size in range(len(sizes)):  # clean: python-loop
        x = x + size
    for i in range(x.shape[0]):  # expect: python-loop (note)
        x = x.at[i].add(1)
    return x


def pick(x):
    return x * 2, x.shape[0], 3


@jax.jit
def uses_parts(x):
    y, rows, count = pick(x)
    if rows > 2 and count > 1:  # clean: value-branch
        y = y + 1
    if y.sum() > 2:  # expect: value-branch
        y = y - 1
    return y


@jax.jit
def bounded(x):
    found = jnp.nonzero(x, size=8)[0]
    many = jnp.nonzero(x)[0]  # expect: mask-gather
    return found.shape[0], many.shape[0]  # expect: dim-readback


# Where the function runs once, what it makes is made once.
def main():
    params = jax.jit(lambda key: jax.random.normal(key, (4,)))(jax.random.key(0))  # clean: fresh-jit
    return prepare(params)


def prepare(params):
    return jax.jit(lambda p: p * 2)(params)  # clean: fresh-jit


def helper(params):
    return jax.jit(lambda p: p * 3)(params)  # expect: fresh-jit (note)


def looped(params):
    return jax.jit(lambda p: p * 4)(params)  # expect: fresh-jit (error)


def loops(params):
    for _ in range(3):
        params = looped(params)
    return params


# A donated array still has a shape.
@functools.partial(jax.jit, donate_argnums=(0,))
def eats(batch):
    return jax.tree.map(lambda x: x + 1, batch)


def after_donation(batch):
    out = eats(batch)
    size = batch["inputs"].shape[0]  # clean: donated-reuse
    fields = batch.keys()  # clean: donated-reuse
    return out, size, fields


def after_donation_reads(batch):
    out = eats(batch)
    return out, batch["inputs"] + 1  # expect: donated-reuse


# A field that the code asks for is minor unless two calls differ.
@jax.jit
def optional(batch):
    x = batch["x"]
    if "mask" in batch:  # expect: optional-key (note)
        x = x * batch["mask"]
    return x


@jax.jit
def picks(x):
    best = jnp.argmax(x)
    chosen = x[best]  # clean: mask-gather
    keep = x > 0
    kept = x[keep]  # expect: mask-gather
    return jnp.where(chosen > 0, best, 0), jnp.where(keep, 1, 0), kept


def over_mesh(x):
    count = jax.lax.psum(1, "data")
    if count > 1:  # clean: value-branch
        x = x / count
    if jax.lax.psum(x, "data") > 1:  # expect: value-branch
        x = x * 2
    return x


sharded = jax.shard_map(over_mesh)


@jax.jit
def over_fields(tables, x):
    for size, table in tables.items():
        if size > 4:  # clean: value-branch
            x = x + table
    return x


@jax.jit
def names_of_leaves(tree):
    total = 0
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        keys = tuple(k.key for k in path)
        if "decoder" in keys:  # clean: optional-key
            total = total + leaf.sum()
    return total


# Ranks: by the value, whatever its name.
@jax.jit
def by_process(x):
    me = jax.process_index()
    if me == 0:  # expect: rank-branch
        x = x + 1
    return x


class Adapter:
    def __init__(self, rank, width):
        self.rank, self.width = rank, width
        self.apply = jax.jit(self.call)

    def call(self, x):
        if self.rank > self.width:  # clean: rank-branch
            raise ValueError("rank")
        return x


@jax.jit
def low_rank(x, rank):
    if x.shape != (4, rank):  # clean: rank-branch
        raise ValueError("shape")
    start = np.random.default_rng(17)  # clean: traced-side-effect
    noise = np.random.default_rng()  # expect: traced-side-effect
    return x, start, noise


# Tracing would fail there, so the step passes the argument.
@jax.jit
def with_default(x, blocks=None):
    if blocks is None:
        blocks = int(x.sum())  # clean: host-sync
    if blocks is not None:
        x = x + float(x[0])  # expect: host-sync
    return x, blocks


@jax.jit
def takes_far(x):
    return middle(x)


def middle(x):
    if x > 1:  # expect: value-branch
        x = x * 2
    return far(x)


def far(x):
    if x > 0:  # clean: value-branch
        return x
    return -x


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def with_layout(x, layout):
    if layout == 2:  # clean: value-branch
        x = x * 2
    return x


# Fed arrays: what grows, and what is replaced.
@jax.jit
def append_step(params, cache):
    new = params * 2
    cache = {"k": jnp.concatenate([cache["k"], new]), "n": cache["n"]}
    return new, cache


@jax.jit
def rolling_step(params, cache):
    cache = jnp.concatenate([cache[1:], params])
    return cache


@jax.jit
def join_and_reduce(params, total):
    return jnp.concatenate([total, params]).sum(axis=0, keepdims=True)


def decode(params, cache, window, total):
    for _ in range(8):
        new, cache = append_step(params, cache)  # expect: shape-drift
        window = rolling_step(params, window)  # clean: shape-drift
    return cache, window, new


@jax.jit
def plain_append(cache, new):
    return jnp.append(cache, new)


def decode_plain(cache, new):
    for _ in range(8):
        cache = plain_append(cache, new)  # expect: shape-drift
    other = plain_append(cache, new)  # clean: shape-drift
    return cache, other


@functools.partial(jax.jit, static_argnames=("train",))
def step(params, batch, train):
    return params if train else params + batch  # expect: late-branch


def batches(data, size):
    for i in range(0, len(data), size):
        rows = data[i : i + size]
        yield {"x": jnp.asarray(rows[:, :-1]), "y": jnp.asarray(rows[:, -1])}


def fit(params, data):
    for batch in batches(data, 16):
        params = step(params, batch["x"], True)  # expect: last-batch
    for i in range(12):
        train = i < 8
        params = step(params, params, train)  # expect: static-argument
    return params


@jax.jit
def takes_state(state, batch):
    return state, batch


def resumes(path, batch):
    state = None
    if path:
        state = jnp.asarray(np.load(path))
    if state is None:
        state = jnp.zeros(3)
    for _ in range(3):
        state, batch = takes_state(state, batch)  # clean: optional-key
    return state


def forgets(path, batch):
    state = None
    if path:
        state = jnp.zeros(3)
    for _ in range(3):
        batch = takes_state(state, batch)[1]  # expect: optional-key (note)
    return batch


def forgets_at_times(paths, batch):
    for path in paths:
        state = None
        if path:
            state = jnp.zeros(3)
        batch = takes_state(state, batch)[1]  # expect: optional-key (warning)
    return batch


def restores(path, load, init, batch):
    state = None
    if path:
        state = load(path)
    if state is None and not path:
        state = init()
    for _ in range(3):
        state, batch = takes_state(state, batch)  # clean: optional-key
    return state


class Engine:
    def __init__(self):
        self.table = None
        self.rate = 1.0
        self.run = jax.jit(self.call)

    def load(self, table):
        self.table = jnp.asarray(table)

    def reload(self, table):
        self.table = jnp.asarray(table) * 2

    def cool(self):
        self.rate *= 0.9

    def call(self, x):
        x = x + self.table  # expect: self-value (note)
        return x * self.rate  # expect: self-value (warning)


# What a transform does not map, and what the function around gives, are Python values.
def mapped(x, types):
    if np.isin(types, [3, 4]).any():  # clean: host-sync, value-branch
        x = x + 1
    if x.sum() > 0:  # expect: value-branch
        x = x * 2
    return x


def maps(x, types):
    return jax.vmap(mapped, in_axes=(0, None))(x, types)


@jax.jit
def weighted(tree, weight: float):
    return jax.tree.map(lambda leaf: leaf * weight, tree)  # clean: baked-constant


def weights(tree):
    for weight in (0.1, 0.2):
        tree = weighted(tree, weight)
    return tree


@functools.partial(jax.jit, static_argnames=("method",))
def gathers(x, *args, method):
    return x, args, method


def gathers_all(x):
    return gathers(x, {"a": x}, method="sum")  # clean: static-unhashable


class Trainer:
    @classmethod
    @functools.partial(jax.jit, static_argnums=0)
    def update(cls, x):  # clean: static-self
        return x


@functools.partial(jax.jit, donate_argnums=0)
def consumes(batch):
    return batch


def consume_all(batches):
    kept = []
    for batch in batches:
        kept.append(consumes(batch))  # clean: donated-reuse
    return kept


@jax.custom_vjp
def solves(x):
    if x.sum() > 0:  # clean: value-branch
        return x
    return -x


def clears(x):
    for _ in range(3):
        x = scaled(x)
        x = x.at[x < 0].set(0)  # clean: mask-gather
    return x


if __name__ == "__main__":
    main()
