"""A transformer trained with Adam in plain JAX, whose memory grows with --batch; prints the device's peak.

usage: fit_train.py [--batch N]"""
import argparse
import functools
import json

import jax
import jax.numpy as jnp

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=16)
args = parser.parse_args()
WORDS, WIDTH, HEADS, LAYERS, LENGTH = 32000, 1024, 16, 8, 512


@jax.jit
def init(key):
    def matrix(k, *shape):
        return jax.random.normal(k, shape, jnp.float32) / shape[0] ** 0.5

    keys = iter(jax.random.split(key, 2 + 4 * LAYERS))
    layers = [{"qkv": matrix(next(keys), WIDTH, 3 * WIDTH), "out": matrix(next(keys), WIDTH, WIDTH),
               "up": matrix(next(keys), WIDTH, 4 * WIDTH), "down": matrix(next(keys), 4 * WIDTH, WIDTH)}
              for _ in range(LAYERS)]
    return {"embed": matrix(next(keys), WORDS, WIDTH), "head": matrix(next(keys), WIDTH, WORDS), "layers": layers}


def norm(x):
    return x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def loss_of(params, tokens):
    batch, length = tokens.shape
    x = params["embed"][tokens].astype(jnp.bfloat16)
    mask = jnp.tril(jnp.ones((length, length), bool))
    for layer in jax.tree.map(lambda w: w.astype(jnp.bfloat16), params["layers"]):
        q, k, v = jnp.split((norm(x) @ layer["qkv"]).reshape(batch, length, 3 * HEADS, WIDTH // HEADS), 3, 2)
        weights = jax.nn.softmax(jnp.where(mask, jnp.einsum("bqhd,bkhd->bhqk", q, k), -1e9), -1)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, length, WIDTH) @ layer["out"]
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
    logits = (norm(x) @ params["head"].astype(jnp.bfloat16)).astype(jnp.float32)
    picked = jnp.take_along_axis(logits, jnp.roll(tokens, -1, 1)[..., None], -1)
    return (jax.nn.logsumexp(logits, -1) - picked[..., 0]).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def step(params, first, second, tokens):
    grads = jax.grad(loss_of)(params, tokens)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, grads)
    return jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, first, second), first, second


params = init(jax.random.key(0))
zeros = jax.jit(lambda p: jax.tree.map(jnp.zeros_like, p))
first, second = zeros(params), zeros(params)
tokens = jax.jit(lambda: jnp.zeros((args.batch, LENGTH), jnp.int32))()
for _ in range(3):
    params, first, second = step(params, first, second, tokens)
jax.block_until_ready(params)
stats = jax.devices()[0].memory_stats() or {}
print(json.dumps({"peak": stats.get("peak_bytes_in_use", 0), "device": jax.devices()[0].device_kind}))
