"""A transformer whose learning rate is compiled in and changes in every step.

usage: lift_train.py OUT.npz     writes each loss, the weights at the end, and the time of each step

STEPS=N sets the number of steps, 30 unless set. With SHORT_EVERY=N, each N-th batch has half the size, as the
last batch of an epoch."""

import os
import sys
import time

OUT = sys.argv[1]
sys.argv = [sys.argv[0], "0", "/dev/null"]  # of train.py

import jax
import jax.numpy as jnp
import numpy as np
import train

STEPS = int(os.environ.get("STEPS", 30))
SHORT_EVERY = int(os.environ.get("SHORT_EVERY", 0))


def make_step(rate):
    @jax.jit
    def train_step(params, m, v, tokens):
        loss, grads = jax.value_and_grad(train.loss_of)(params, tokens)
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
        v = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g * g, v, grads)
        params = jax.tree.map(lambda p, a, b: p - rate * (a / (jnp.sqrt(b) + 1e-8)), params, m, v)
        return params, m, v, loss

    return train_step


def main():
    params = jax.jit(train.init)(jax.random.key(0))
    m = jax.tree.map(jnp.zeros_like, params)
    v = jax.tree.map(jnp.zeros_like, params)
    rng = np.random.default_rng(0)
    results, times = {}, []
    for i in range(STEPS):
        size = train.BATCH // 2 if SHORT_EVERY and i % SHORT_EVERY == SHORT_EVERY - 1 else train.BATCH
        tokens = jnp.asarray(rng.integers(0, train.VOCAB, (size, train.SEQ + 1)), jnp.int32)
        begin = time.perf_counter()
        params, m, v, loss = jax.block_until_ready(make_step(1e-3 * 0.97**i)(params, m, v, tokens))
        times.append(time.perf_counter() - begin)
        results[f"train_step.loss.{i}"] = np.asarray(loss)
    for i, leaf in enumerate(jax.tree.leaves(params)):
        results[f"train_step.weights.{i}"] = np.asarray(leaf)
    np.savez(OUT, time=np.array(times), **results)


if __name__ == "__main__":
    main()
