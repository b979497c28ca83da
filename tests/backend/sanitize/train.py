"""Small networks train under JAX, on several threads that share executables and arrays.

usage: train.py STEPS OUT     on whatever platform JAX_PLATFORMS names; writes the losses as JSON
"""
import gc
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import jax
import jax.numpy as jnp
import numpy as np

import models

THREADS = 3
NETS = [("transformer", *models.transformer(batch=2, length=16, width=32, heads=2, layers=1, vocab=64)),
        ("cnn", *models.cnn(batch=4, size=12)), ("rnn", *models.rnn(batch=4, length=8, width=16)),
        ("dropout", *models.dropout_mlp())]


def train(step, state, batch, steps):
    state, losses = jax.tree.map(jnp.array, state), []
    for _ in range(steps):
        state, loss = step(state, batch)
        losses.append(loss)
    return [float(a) for a in losses]


def side_by_side(steps):
    """Every thread runs every network, each compiled once for all of them; losses by thread and network."""
    compiled = [(name, jax.jit(step, donate_argnums=0), state, jax.device_put(batch)) for name, step, state, batch in NETS]
    result, failed = {}, []

    def work(thread):
        try:
            for i in range(len(compiled)):
                name, step, state, batch = compiled[(i + thread) % len(compiled)]
                result[f"{name}.{thread}"] = train(step, state, batch, steps)
        except Exception as e: # a thread's error would be printed and forgotten
            failed.append(e)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]
    return result


def shared_array():
    """Threads read, copy and delete arrays that a program is still computing; the rest lives on."""
    x = jnp.arange(200_000, dtype=jnp.float32)
    double = jax.jit(lambda a: a * 2)
    sums = []
    for i in range(4):
        x = double(x) - 1
        readers = [threading.Thread(target=lambda a=x: sums.append(float(np.asarray(a)[-1]))),
                   threading.Thread(target=lambda a=x: sums.append(float(a[-1]))),
                   threading.Thread(target=lambda a=x: (a.is_ready(), a.block_until_ready()))]
        for t in readers:
            t.start()
        doomed = double(x)
        for t in readers:
            t.join()
        doomed.delete()
    gc.collect()
    return sums


def callbacks():
    """Threads run one program that calls back, while another thread's programs are queued; one callback fails."""
    def half(a):
        if a[0] < 0:
            raise ValueError("below zero")
        return np.asarray(a) / 2
    called = jax.jit(lambda a: jax.pure_callback(half, a, a * 2) + 1)
    got = []

    def work(i):
        try:
            got.append(float(called(jnp.full(50_000, float(i)))[1]))
        except Exception as e:
            got.append(str(e))
    threads = [threading.Thread(target=work, args=(i,)) for i in (0, 1, 2, -1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return got


def errors():
    """A program with a call of another's is refused, for two threads at once."""
    told = []

    def refused():
        try:
            jax.jit(jax.ffi.ffi_call("mine", jax.ShapeDtypeStruct((3,), np.float32)))(jnp.ones(3))
        except Exception as e:
            told.append(str(e))
    threads = [threading.Thread(target=refused) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return told


def main():
    steps, out = int(sys.argv[1]), sys.argv[2]
    result = dict(platform=jax.default_backend(), losses=side_by_side(steps), sums=shared_array(),
                  called=callbacks(), errors=errors(), memory=jax.devices()[0].memory_stats())
    with open(out, "w") as f:
        json.dump(result, f)


if __name__ == "__main__":
    main()
