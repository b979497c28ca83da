"""A training step of some equal layers on one device, one after the other or as a loop.

usage: layers.py LAYERS [--scan]"""
import sys

import jax
import jax.numpy as jnp

LAYERS, SCAN = int(sys.argv[1]), "--scan" in sys.argv


def layer(h, w):
    a = jnp.tanh(h @ w)
    b = a * jax.nn.softmax(h @ w.T)
    return h + b / (1 + jnp.sum(b * b, -1, keepdims=True))


def loss_of(ws, h):
    if SCAN:
        h, _ = jax.lax.scan(lambda h, w: (layer(h, w), None), h, ws)
    else:
        for w in ws:
            h = layer(h, w)
    return jnp.mean(h * h)


@jax.jit
def step(ws, x):
    return jax.tree.map(lambda w, g: w - 0.1 * g, ws, jax.grad(loss_of)(ws, x))


ws, x = jnp.zeros((LAYERS, 64, 64)), jnp.zeros((32, 64))
if not SCAN:
    ws = list(ws)
for _ in range(2):
    ws = step(ws, x)
