import jax
import jax.numpy as jnp
from jax import lax

VOCAB, DIM, LAYERS = 96, 24, 2
MAX_TOP_K = 32


def init_weights(seed):
    k = jax.random.split(jax.random.PRNGKey(seed), 3)
    return {
        "emb": jax.random.normal(k[0], (VOCAB, DIM)) * 0.3,
        "qkv": jax.random.normal(k[1], (LAYERS, DIM, 3 * DIM)) * DIM**-0.5,
        "o": jax.random.normal(k[2], (LAYERS, DIM, DIM)) * DIM**-0.5,
    }


def _attend(q, k, v, mask):
    s = jnp.einsum("bqd,bkd->bqk", q, k) * DIM**-0.5
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.where(mask, s, -1e9)), v)


@jax.jit
def prefill(w, tokens, n):
    x = w["emb"][tokens][None]
    t = tokens.shape[0]
    mask = jnp.tril(jnp.ones((t, t), bool))[None]
    ks, vs = [], []
    for layer in range(LAYERS):
        q, k, v = jnp.split(x @ w["qkv"][layer], 3, -1)
        ks.append(k[0])
        vs.append(v[0])
        x = x + _attend(q, k, v, mask) @ w["o"][layer]
    return {"k": jnp.stack(ks), "v": jnp.stack(vs)}, x[0, n - 1] @ w["emb"].T


@jax.jit
def insert_prefix(cache, prefix, slot):
    put = lambda c, p: lax.dynamic_update_slice(c, p[:, None], (0, slot, 0, 0))
    return jax.tree.map(put, cache, prefix)


@jax.jit
def decode_step(w, cache, tokens, lengths):
    x = w["emb"][tokens][:, None]
    rows = jnp.arange(tokens.shape[0])
    mask = (jnp.arange(cache["k"].shape[2])[None] <= lengths[:, None])[:, None]
    new = {"k": [], "v": []}
    for layer in range(LAYERS):
        q, k, v = jnp.split(x @ w["qkv"][layer], 3, -1)
        ck = cache["k"][layer].at[rows, lengths].set(k[:, 0])
        cv = cache["v"][layer].at[rows, lengths].set(v[:, 0])
        new["k"].append(ck)
        new["v"].append(cv)
        x = x + _attend(q, ck, cv, mask) @ w["o"][layer]
    return {n: jnp.stack(c) for n, c in new.items()}, x[:, 0] @ w["emb"].T


@jax.jit
def sample_tokens(key, logits, temps, k):
    vals, idx = lax.top_k(logits, MAX_TOP_K)
    vals = jnp.where(jnp.arange(MAX_TOP_K)[None] < k, vals, -jnp.inf)
    pick = jax.random.categorical(key, vals / jnp.maximum(temps, 0.05)[:, None])
    return jnp.take_along_axis(idx, pick[:, None], 1)[:, 0]
