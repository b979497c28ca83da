"""Sizes, slices and loops that follow values, under JAX."""
from functools import partial

import math
import jax
import jax.numpy as jnp
from jax import lax


@partial(jax.jit, static_argnames=("start", "n"))
def slices(x, start, n):
    a = x[start:start + 8]  # expect: slice-start
    b = x[:, n:]  # clean: slice-start
    c = x[n * 2:n * 2 + 4]  # expect: slice-start
    return a, b, c


@partial(jax.jit, static_argnames=("n",))
def tails(x, n):
    return x[:, n:]  # expect: slice-start (warning)


def drops(x):
    for n in range(4):
        x = tails(x, n)  # expect: static-argument
    return x


@partial(jax.jit, static_argnums=(1,))
def more_slices(x, at, idx=None):
    a = x[at - 1:at]  # expect: slice-start
    b = x[int(idx):]  # expect: slice-start, host-sync
    return a, b


@partial(jax.jit, static_argnames=("n",))
def no_slices(x, n, i):
    a = x[2:10]  # clean: slice-start
    b = x[:n]  # clean: slice-start
    c = lax.dynamic_slice(x, (i,), (8,))  # clean: slice-start
    half = x.shape[0] // 2
    d = x[half:]  # clean: slice-start
    shape = (1, 2, 3)
    e = shape[n:]  # clean: slice-start
    for k in range(4):
        a = a + x[k:k + 8]  # clean: slice-start
    return a, b, c, d, e


@partial(jax.jit, static_argnames=("reps",))
def loops(x, reps):
    for _ in range(reps):  # expect: python-loop
        x = x + 1
    for i in range(x.shape[0]):  # expect: python-loop
        x = x.at[i].set(0)
    for row in x:  # expect: python-loop
        x = x + row
    count = int(x[0])  # expect: host-sync
    for _ in range(count):  # expect: python-loop
        x = x * 2
    for i in range(0, len(x), 4):  # expect: python-loop
        x = x + i
    return x


@jax.jit
def no_loops(x, layers):
    for i in range(3):  # clean: python-loop
        x = x + i
    for name in ("a", "b"):  # clean: python-loop
        x = x + layers[name]
    for layer in layers["list"]:  # clean: python-loop
        x = x @ layer
    for i in range(x.ndim):  # clean: python-loop
        x = x.sum(keepdims=True) + i
    return lax.fori_loop(0, 10, lambda i, v: v + i, x)


def host_loop(x, reps):
    for _ in range(reps):  # clean: python-loop
        x = no_loops(x, {})
    return x


@jax.jit
def gathers(x, mask, counts: jax.Array):
    a = x[x > 0]  # expect: mask-gather
    b = jnp.nonzero(x)  # expect: mask-gather
    c = jnp.where(x > 1)  # expect: mask-gather
    d = jnp.unique(x)  # expect: mask-gather
    e = jnp.argwhere(x)  # expect: mask-gather
    f = jnp.repeat(x, counts)  # expect: mask-gather
    keep = jnp.logical_and(x > 0, mask)
    g = x[keep]  # expect: mask-gather
    return a, b, c, d, e, f, g


@jax.jit
def no_gathers(x, index):
    a = jnp.where(x > 0, x, 0)  # clean: mask-gather
    b = jnp.nonzero(x, size=8)  # clean: mask-gather
    c = jnp.unique(x, size=4, fill_value=0)  # clean: mask-gather
    d = x.at[x > 0].set(0)  # clean: mask-gather
    e = x[index]  # clean: mask-gather
    f = jnp.repeat(x, 3)  # clean: mask-gather
    return a, b, c, d, e, f


@jax.jit
def top(x, ratio):
    k = int(jnp.sum(x > 0))  # expect: host-sync
    a = lax.top_k(x, k)  # expect: topk-k
    b = lax.top_k(x, int(ratio * x.shape[0]))  # expect: topk-k, host-sync
    c = lax.top_k(x, x.shape[-1] // 2)  # clean: topk-k
    d = lax.top_k(x, k=k)  # expect: topk-k
    e = lax.approx_max_k(x, x.shape[0] // 4)  # clean: topk-k
    f = lax.top_k(x, x[x > 0].shape[0] // 2)  # expect: topk-k, mask-gather, dim-readback
    g = lax.top_k(x, len(jnp.unique(x)))  # expect: topk-k, mask-gather
    return a, b, c, d, e, f, g


TOP = 8


@partial(jax.jit, static_argnames=("k",))
def no_top(x, k):
    a = lax.top_k(x, 8)  # clean: topk-k
    b = lax.top_k(x, k)  # clean: topk-k
    c = lax.top_k(x, TOP)  # clean: topk-k
    d = lax.top_k(x, min(TOP, x.shape[-1]))  # clean: topk-k
    e = jnp.sort(x)[:TOP]  # clean: topk-k
    return a, b, c, d, e


@jax.jit
def sizes(x, lengths):
    longest = int(lengths.max())  # expect: host-sync
    a = jnp.zeros(longest)  # expect: size-from-value
    b = jnp.arange(longest)  # expect: size-from-value
    c = x.reshape(longest, -1)  # expect: size-from-value
    d = jnp.pad(x, (0, longest))  # expect: size-from-value
    e = jnp.broadcast_to(x, (lengths[0].item(), 3))  # expect: size-from-value, host-sync
    return a, b, c, d, e


@jax.jit
def no_sizes(x, lengths):
    n = x.shape[0]
    a = jnp.zeros(n)  # clean: size-from-value
    b = jnp.arange(x.shape[1])  # clean: size-from-value
    c = x.reshape(n, -1)  # clean: size-from-value
    d = jnp.full((n,), lengths.max())  # clean: size-from-value
    e = jnp.ones((16, 16))  # clean: size-from-value
    return a, b, c, d, e


@jax.jit
def readbacks(x):
    found = jnp.nonzero(x)  # expect: mask-gather
    kept = x[x > 0]  # expect: mask-gather
    a = kept.shape[0]  # expect: dim-readback
    b = kept.size  # expect: dim-readback
    c = int(kept.shape[0])  # expect: dim-readback
    uniq = jnp.unique(x)  # expect: mask-gather
    d = uniq.shape[0]  # expect: dim-readback
    e = jnp.argwhere(x).shape[0]  # expect: dim-readback, mask-gather
    return found, a, b, c, d, e


@jax.jit
def no_readbacks(x, ids):
    a = x.shape[0]  # clean: dim-readback
    b = x[ids].shape[0]  # clean: dim-readback
    c = jnp.where(x > 0, x, 0).size  # clean: dim-readback
    d = (x > 0).sum()  # clean: dim-readback
    e = x[:4].shape  # clean: dim-readback
    return a, b, c, d, e


@jax.jit
def experts(x, mask, factor=1.25):
    tokens = x.shape[0] * x.shape[1]
    real = int(mask.sum())  # expect: host-sync
    capacity = int(factor * real / 8)  # expect: capacity-leak
    slots = real // 8  # expect: capacity-leak
    room = max(4, x[mask > 0].shape[0] // 8)  # expect: capacity-leak, mask-gather, dim-readback
    chosen = int(mask.sum()) // 4  # expect: capacity-leak, host-sync
    share = math.ceil(real / 2)  # expect: capacity-leak
    fixed = int(factor * tokens / 8)  # clean: capacity-leak
    rows = math.ceil(len(x) / 2)  # clean: capacity-leak
    ranks = jnp.cumsum(x, axis=0)
    a = x * (ranks < capacity)
    b = jax.nn.one_hot(x, slots)
    c = jnp.where(room > ranks, x, 0)
    d = jnp.less(ranks, chosen)
    e = jnp.where(ranks < fixed, x, 0)
    return a, b, c, d, e, jax.nn.one_hot(ranks, share), jax.nn.one_hot(ranks, rows)


MAX_TOKENS = 4096


@jax.jit
def no_experts(x, factor=1.25, n_experts=8):
    capacity = int(factor * MAX_TOKENS / n_experts)  # clean: capacity-leak
    expert_capacity = 64  # clean: capacity-leak
    tokens = x.shape[0]  # clean: capacity-leak
    capacity_used = jnp.sum(x > 0)  # clean: capacity-leak
    groups = x.shape[0] // 8  # clean: capacity-leak
    a = x * (jnp.cumsum(x, axis=0) < capacity), jnp.zeros((tokens, expert_capacity))
    return a, capacity_used, x.reshape(groups, -1), jnp.zeros((groups, 8))


@partial(jax.jit, static_argnums=(1, 2))
def windows(x, n, size):
    first = x[n : n + 4]  # expect: slice-start
    both = x[n : 2 * n]  # clean: slice-start
    end = 2 * n
    ended = x[end - n : end]  # clean: slice-start
    shifted = x[n : n + size]  # expect: slice-start
    corner = x[n : n + 1, n + 1 : size]  # clean: slice-start
    return first.sum() + both.sum() + ended.sum() + shifted.sum() + corner.sum()


@partial(jax.jit, static_argnums=(1,))
def triangle(x, rows):
    total = 0.0
    for row in range(rows):  # clean: python-loop
        total = total + x[row, : row + 1].sum()
    for row in range(rows):  # clean: python-loop
        width, start = 4 * (row + 1), 2 * row
        total = total + x[row, start : start + width].sum()
    for row in range(rows):  # clean: python-loop
        total = total + jnp.arange(row + 1).sum()
    for row in range(rows):  # clean: python-loop
        carry, _ = lax.scan(lambda c, y: (c + y, None), x[row, 0], x[row])
        total = total + carry
    for row in range(rows):  # expect: python-loop
        total = total + x[row, 2:4].sum()
    for tap in jnp.arange(-2, 3):  # clean: python-loop
        total = total + jnp.roll(x, tap).sum()
    for part in x:  # expect: python-loop
        total = total + part.sum()
    return total


def counted(x, turns):
    turns = jnp.array(turns).item()

    def body(y):
        return y + jnp.arange(turns).sum()  # clean: size-from-value

    return jax.vmap(body)(x)


@jax.jit
def counted_inside(x):
    turns = x.sum().item()  # expect: host-sync
    return jnp.arange(turns)  # expect: size-from-value
