"""Tiny decoder with int8 weights, per-channel scales and a flat KV cache."""
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

V, D, CTX = 97, 32, 64


class Q8(NamedTuple):
    q: jax.Array
    s: jax.Array

    def __rmatmul__(self, x):
        return (x @ self.q.astype(x.dtype)) * self.s


def quantise(w):
    s = np.abs(w).max(0) / 127.0
    return Q8(np.round(w / s).astype(np.int8), s.astype(np.float32))


def load(seed=0):
    g = np.random.default_rng(seed)
    mk = lambda a, b: quantise(g.normal(size=(a, b)) / np.sqrt(a))
    host = {"emb": g.normal(size=(V, D)).astype(np.float32), "qkv": mk(D, 3 * D), "out": mk(D, D), "head": mk(D, V)}
    return jax.device_put(host)


def _attend(q, k, v, valid):
    a = jnp.where(valid, q @ k.T / np.sqrt(D), -1e9)
    return jax.nn.softmax(a, -1) @ v


def prefill(w, ids, n):
    """ids: prompt tokens.  Returns the filled cache and the logits of token n-1."""
    x = w["emb"][ids]
    q, k, v = jnp.split(x @ w["qkv"], 3, -1)
    L = ids.shape[0]
    causal = jnp.tril(jnp.ones((L, L), bool))
    h = x + _attend(q, k, v, causal) @ w["out"]
    cache = jnp.zeros((2, CTX, D)).at[0, :L].set(k).at[1, :L].set(v)
    return cache, h[n - 1] @ w["head"]


def decode(w, cache, logits, pos, temperature, key):
    tok = jax.random.categorical(key, logits / temperature)
    x = w["emb"][tok]
    q, k, v = jnp.split(x @ w["qkv"], 3, -1)
    cache = cache.at[0, pos].set(k).at[1, pos].set(v)
    h = x + _attend(q, cache[0], cache[1], jnp.arange(CTX) <= pos) @ w["out"]
    return cache, h @ w["head"], tok
