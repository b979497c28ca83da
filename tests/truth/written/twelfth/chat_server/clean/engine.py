from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from cache import KV
from tokens import CharTokens


@dataclass
class Request:
    prompt: str
    options: dict = field(default_factory=dict)
    max_new: int = 4


def attend(q, k, v, live):
    s = jnp.where(live, q @ k.T / jnp.sqrt(1.0 * q.shape[-1]), -1e9)
    return jax.nn.softmax(s, axis=-1) @ v


@jax.jit
def prefill(w, ids, n):
    x = w["emb"][ids]
    k, v = x @ w["k"], x @ w["v"]
    out = attend(x[n - 1] @ w["q"], k, v, jnp.arange(ids.shape[0]) < n)
    return k, v, out @ w["out"]


@jax.jit
def decode(w, tok, k, v, n):
    x = w["emb"][tok]
    out = attend(x @ w["q"], k, v, jnp.arange(k.shape[0]) < n)
    return x @ w["k"], x @ w["v"], out @ w["out"]


MAX_K = 16


@jax.jit
def pick(logits, key, temperature, k):
    top, where = jax.lax.top_k(logits / temperature, MAX_K)
    noise = -jnp.log(-jnp.log(key))[:MAX_K]
    return where[jnp.argmax(jnp.where(jnp.arange(MAX_K) < k, top + noise, -jnp.inf))]


class Engine:
    defaults = {"k": 5, "temperature": 1.0}

    def __init__(self, dim=16, seed=0):
        self.tok = CharTokens()
        rng = np.random.default_rng(seed)
        mat = lambda *s: rng.normal(scale=0.4, size=s).astype(np.float32)
        self.weights = {"emb": mat(32, dim), "q": mat(dim, dim), "k": mat(dim, dim), "v": mat(dim, dim), "out": mat(dim, 32)}
        self.noise = rng
        self.dim = dim
        self.stats = {"requests": 0, "tokens": 0}

    def serve(self, req):
        opts = {**self.defaults, **req.options}
        ids = np.asarray(self.tok.encode(req.prompt), np.int32)
        n = len(ids)
        keys, vals, logits = prefill(self.weights, np.pad(ids, (0, 48 - n)), n)
        kv = KV(self.dim)
        kv.load(np.asarray(keys)[:n], np.asarray(vals)[:n])
        text = []
        for _ in range(req.max_new):
            sub = self.noise.uniform(0.01, 0.99, 32).astype(np.float32)
            tok = pick(logits, sub, opts["temperature"], k=opts["k"])
            text.append(int(tok))
            key, val, logits = decode(self.weights, tok, kv.k, kv.v, kv.n)
            kv.append(np.asarray(key), np.asarray(val))
        self.stats["requests"] += 1
        self.stats["tokens"] += len(text)
        return self.tok.decode(text)
