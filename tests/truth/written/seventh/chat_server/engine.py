from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

VOCAB, DIM, HEADS, LAYERS = 48, 32, 4, 2
PROMPT_LEN = 8
PAD = 0


def init(seed=0):
    rng = np.random.default_rng(seed)
    w = lambda *s: jnp.asarray(rng.standard_normal(s) * s[0] ** -0.5, jnp.float32)
    blocks = [dict(qkv=w(DIM, 3 * DIM), o=w(DIM, DIM), up=w(DIM, 64), down=w(64, DIM)) for _ in range(LAYERS)]
    return dict(embed=w(VOCAB, DIM), blocks=blocks)


def _split(x):
    return x.reshape(x.shape[0], HEADS, DIM // HEADS)


def _attend(q, k, v, mask):
    s = jnp.einsum("qhd,khd->hqk", q, k) / (DIM // HEADS) ** 0.5
    p = jax.nn.softmax(jnp.where(mask, s, -1e9), -1)
    return jnp.einsum("hqk,khd->qhd", p, v).reshape(q.shape[0], DIM)


def _mlp(blk, x):
    return x + jax.nn.silu(x @ blk["up"]) @ blk["down"]


@jax.jit
def prefill(params, tokens):
    x = params["embed"][tokens]
    ok = (tokens != PAD)[None, None, :]
    mask = jnp.tril(jnp.ones((PROMPT_LEN, PROMPT_LEN), bool))[None] & ok
    cache = []
    for blk in params["blocks"]:
        q, k, v = map(_split, jnp.split(x @ blk["qkv"], 3, -1))
        x = _mlp(blk, x + _attend(q, k, v, mask) @ blk["o"])
        cache.append((k, v))
    return cache, tokens != PAD


@partial(jax.jit, static_argnames="options")
def decode(params, cache, valid, token, key, options):
    x = params["embed"][token][None]
    valid = jnp.append(valid, True)
    grown = []
    for blk, (ck, cv) in zip(params["blocks"], cache):
        q, k, v = map(_split, jnp.split(x @ blk["qkv"], 3, -1))
        ck, cv = jnp.concatenate([ck, k]), jnp.concatenate([cv, v])
        x = _mlp(blk, x + _attend(q, ck, cv, valid[None, None, :]) @ blk["o"])
        grown.append((ck, cv))
    logits = (x @ params["embed"].T)[0]
    vals, ids = jax.lax.top_k(logits, options.top_k)
    choice = jax.random.categorical(key, vals / options.temperature)
    return grown, valid, ids[choice]


class Engine:
    def __init__(self, seed=0):
        self.params = init(seed)
        self.key = jax.random.PRNGKey(seed)
        self.emitted = 0

    def generate(self, req):
        padded = np.full(PROMPT_LEN, PAD, np.int32)
        padded[-len(req.prompt):] = req.prompt
        cache, valid = prefill(self.params, padded)
        token = jnp.asarray(padded[-1])
        for _ in range(req.max_new):
            self.key, sub = jax.random.split(self.key)
            cache, valid, token = decode(self.params, cache, valid, token, sub, req.options)
            self.emitted += 1
            yield int(token)
