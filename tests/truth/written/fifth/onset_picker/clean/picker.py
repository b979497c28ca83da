"""A small convolutional onset picker in bare JAX."""
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class Layer(NamedTuple):
    w: jax.Array
    b: jax.Array


def init(key, widths=(3, 8, 8, 1), taps=9):
    layers = []
    for k, cin, cout in zip(jax.random.split(key, len(widths)), widths[:-1], widths[1:]):
        w = jax.random.normal(k, (taps, cin, cout)) / jnp.sqrt(taps * cin)
        layers.append(Layer(w, jnp.zeros((cout,))))
    return layers


def logits(layers, x):
    for i, layer in enumerate(layers):
        x = jax.lax.conv_general_dilated(
            x, layer.w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")) + layer.b
        if i < len(layers) - 1:
            x = jax.nn.gelu(x)
    return x[..., 0]


def objective(layers, x, y):
    return optax.sigmoid_binary_cross_entropy(logits(layers, x), y).mean()


schedule = optax.cosine_decay_schedule(3e-3, 60)
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))


@jax.jit
def update(layers, opt_state, x, y):
    loss, grads = jax.value_and_grad(objective)(layers, x, y)
    delta, opt_state = tx.update(grads, opt_state, layers)
    report = {"loss": loss}
    report["grad_norm"] = optax.global_norm(grads)
    report["delta_norm"] = optax.global_norm(delta)
    report["saturated"] = jnp.mean(jnp.abs(logits(layers, x)) > 8.0)
    return optax.apply_updates(layers, delta), opt_state, report


@jax.jit
def pick_error(layers, x, onset):
    return jnp.mean(jnp.abs(jnp.argmax(logits(layers, x), axis=1) - onset))
