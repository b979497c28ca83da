"""A small model, Adam, data, and the loop's own step counter, shared by the loops in this folder."""
import os
import time

import jax
import jax.numpy as jnp
import numpy as np

SIZES = (16, 32, 32, 4)


class Counter:
    """The script's own count of steps. With STET_LOOP_MARKS=FILE each step's begin is noted there:
    step, monotonic nanoseconds, and (over a plugin that tells) the executions so far."""

    def __init__(self, executions=None):
        path = os.environ.get("STET_LOOP_MARKS")
        self.file = open(path, "w") if path else None
        self.executions = executions or _executions
        self.step = -1

    def begin(self):
        self.step += 1
        if self.file:
            self.file.write(f"{self.step} {time.monotonic_ns()} {self.executions()}\n")
            self.file.flush()
        return self.step

    def report(self, loss=None):
        if self.step % 20 == 0:
            print(f"step {self.step}" + ("" if loss is None else f" loss {float(loss):.4f}"))

    def done(self):
        if self.file:
            self.file.write(f"end {time.monotonic_ns()} {self.executions()}\n")
            self.file.close()
        print(f"{self.step + 1} steps")


def _executions():
    return -1


def steps(default):
    return int(os.environ.get("STET_LOOP_STEPS", default))


def init(key, sizes=SIZES):
    params = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (fan_in, fan_out)) / np.sqrt(fan_in),
                       "b": jnp.zeros(fan_out)})
    return params


def apply(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, batch):
    x, y = batch
    logits = jax.nn.log_softmax(apply(params, x))
    return -jnp.mean(jnp.sum(logits * jax.nn.one_hot(y, logits.shape[-1]), axis=-1))


def adam_init(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": jax.tree.map(jnp.zeros_like, params), "t": jnp.zeros((), jnp.int32)}


def adam(params, grads, opt, lr=1e-2):
    t = opt["t"] + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, opt["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, opt["v"], grads)
    scale = lr * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    params = jax.tree.map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-8), params, m, v)
    return params, {"m": m, "v": v, "t": t}


@jax.jit
def train_step(params, opt, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    params, opt = adam(params, grads, opt)
    return params, opt, loss


def batches(n, size=32, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        x = rng.normal(size=(size, SIZES[0])).astype(np.float32)
        yield x, (x.sum(axis=1) > 0).astype(np.int32)
