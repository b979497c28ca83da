"""Trains five networks, each plain, under checkpoint and under vmap, and writes the losses as JSON.

usage: zoo.py STEPS OUT     on whatever platform JAX_PLATFORMS names; nothing here knows which
"""
import json
import sys
import time

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

import models


def transformer():
    """Pure JAX, its own AdamW."""
    loss = models.transformer_loss(heads=2)
    params = models.transformer_params(length=16, width=32, layers=1, vocab=64)
    tokens = np.random.default_rng(0).integers(0, 64, (4, 17)).astype(np.int32)
    return lambda p, batch, key: loss(p, batch), params, tokens, None


def cnn():
    """Flax, with batch normalisation, max and average pooling."""
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(8, (3, 3))(x))
            x = nn.max_pool(x, (2, 2), (2, 2))
            x = nn.Conv(16, (3, 3), strides=2, use_bias=False)(x)
            x = nn.relu(nn.BatchNorm(use_running_average=False, use_fast_variance=False)(x))
            x = nn.avg_pool(x, (2, 2), (1, 1), "SAME")
            return nn.Dense(10)(x.reshape(x.shape[0], -1))

    net, x = Net(), models.normal(1, 8, 12, 12, 3)
    y = np.arange(8, dtype=np.int32) % 10
    params = net.init(jax.random.key(0), x)["params"]

    def loss(p, batch, key):
        logits, _ = net.apply({"params": p}, batch[0], mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch[1]).mean()
    return loss, params, (x, y), optax.sgd(0.05, momentum=0.9)


def mlp():
    """Equinox, with dropout."""
    net = eqx.nn.MLP(8, 3, 32, 2, activation=jax.nn.gelu, key=jax.random.key(1))
    params, rest = eqx.partition(net, eqx.is_inexact_array)
    dropout = eqx.nn.Dropout(0.1)

    def loss(p, batch, key):
        x, y = batch
        out = jax.vmap(eqx.combine(p, rest))(dropout(x, key=key))
        return jnp.mean((out - y) ** 2)
    return loss, params, (models.normal(2, 16, 8), models.normal(3, 16, 3)), optax.adam(1e-2)


def rnn():
    """A gated unit by scan, gradients clipped."""
    def loss(p, batch, key):
        x, y = batch

        def cell(h, a):
            z = jax.nn.sigmoid(jnp.concatenate([a, h], -1) @ p["z"])
            h = (1 - z) * h + z * jnp.tanh(a @ p["wx"] + h @ p["wh"] + p["b"])
            return h, h
        _, hs = jax.lax.scan(cell, jnp.zeros((x.shape[1], 16)), x)
        return ((hs @ p["out"] - y) ** 2).mean()

    params = dict(z=models.normal(0, 20, 16) * .2, wx=models.normal(1, 4, 16) * .3, wh=models.normal(2, 16, 16) * .2,
                  b=np.zeros(16, np.float32), out=models.normal(3, 16, 2) * .3)
    batch = models.normal(4, 12, 8, 4), models.normal(5, 12, 8, 2)
    return loss, params, batch, optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-3))


def sampling():
    """Samples sequences token by token, then learns from their rewards."""
    def loss(p, target, key):
        def logits(h, token):
            h = jnp.tanh(h @ p["w"] + p["embed"][token])
            return h, h @ p["out"]

        def draw(carry, key):
            h, token = carry
            h, l = logits(h, token)
            top, _ = jax.lax.top_k(l, 6)
            l = jnp.where(l < top[:, -1:], -1e9, l)
            token = jax.random.categorical(key, l / 0.9)
            return (h, token), (token, jnp.take_along_axis(jax.nn.log_softmax(l), token[:, None], -1)[:, 0])
        start = jnp.zeros((16, 16)), jnp.zeros(16, jnp.int32)
        _, (tokens, logp) = jax.lax.scan(draw, start, jax.random.split(key, 8))
        reward = (tokens == target[:, None]).mean(0)
        return -(jax.lax.stop_gradient(reward - reward.mean()) * logp.sum(0)).mean() - reward.mean()

    params = dict(w=models.normal(0, 16, 16) * .3, embed=models.normal(1, 12, 16) * .3, out=models.normal(2, 16, 12) * .3)
    return loss, params, np.arange(8, dtype=np.int32), optax.adam(2e-2)


def stepper(loss, optimizer):
    """The optimizer's state starts as None for the AdamW of models.py."""
    def step(params, state, batch, key):
        value, grads = jax.value_and_grad(loss)(params, batch, key)
        if optimizer is None:
            params, state = models.adamw(params, grads, state)
        else:
            updates, state = optimizer.update(grads, state, params)
            params = optax.apply_updates(params, updates)
        return params, state, value

    def start(params):
        return models.moments(params) if optimizer is None else optimizer.init(params)
    return step, start


def train(step, params, state, batch, steps):
    step = jax.jit(step, donate_argnums=(0, 1))
    key, losses = jax.random.key(7), []
    params = jax.tree.map(jnp.array, params) # the step gives them up
    state = jax.tree.map(jnp.array, state)
    for i in range(steps):
        params, state, loss = step(params, state, batch, jax.random.fold_in(key, i))
        losses.append(loss)
    return np.stack(losses).astype(np.float64).mean(axis=tuple(range(1, losses[0].ndim + 1))).tolist()


def main():
    steps, out, result = int(sys.argv[1]), sys.argv[2], {}
    for make in (transformer, cnn, mlp, rnn, sampling):
        loss, params, batch, optimizer = make()
        for name, wrap in (("plain", lambda f: f), ("checkpoint", jax.checkpoint)):
            step, start = stepper(wrap(loss), optimizer)
            begin = time.perf_counter()
            result[f"{make.__name__}.{name}"] = train(step, params, start(params), batch, steps)
            print(f"{make.__name__}.{name}: {time.perf_counter() - begin:.1f} s", flush=True)
        # three networks side by side, each with an optimizer of its own
        many = jax.tree.map(lambda a: jnp.stack([a * s for s in (1.0, 0.9, 1.1)]), params)
        step, start = stepper(loss, optimizer)
        begin = time.perf_counter()
        result[f"{make.__name__}.vmap"] = train(jax.vmap(step, in_axes=(0, 0, None, None)), many, jax.vmap(start)(many),
                                                batch, steps)
        print(f"{make.__name__}.vmap: {time.perf_counter() - begin:.1f} s", flush=True)
    with open(out, "w") as f:
        json.dump(dict(platform=jax.default_backend(), losses=result), f)


if __name__ == "__main__":
    main()
