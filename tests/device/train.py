"""A small transformer trained with AdamW in plain JAX, for comparing runs with and without Stet.

usage: train.py STEPS OUT.json     writes the bits of every loss and what JAX itself counted
"""

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

STEPS, OUT = int(sys.argv[1]), sys.argv[2]
VOCAB, DIM, HEADS, LAYERS, BATCH, SEQ = 512, 128, 4, 2, 8, 64

compile_ms = []


def on_duration(event, duration, **_):
    if event == "/jax/core/compile/backend_compile_duration":
        compile_ms.append(round(duration * 1e3, 3))


jax.monitoring.register_event_duration_secs_listener(on_duration)


def init(key):
    keys = iter(jax.random.split(key, 2 + 4 * LAYERS))

    def matrix(*shape):
        return jax.random.normal(next(keys), shape) / np.sqrt(shape[0])

    layers = [
        {"qkv": matrix(DIM, 3 * DIM), "out": matrix(DIM, DIM), "up": matrix(DIM, 4 * DIM), "down": matrix(4 * DIM, DIM)}
        for _ in range(LAYERS)
    ]
    return {"embed": matrix(VOCAB, DIM), "head": matrix(DIM, VOCAB), "layers": layers}


def norm(x):
    return x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def forward(params, tokens):
    x = params["embed"][tokens]
    mask = jnp.tril(jnp.ones((SEQ, SEQ), bool))
    for layer in params["layers"]:
        q, k, v = jnp.split((norm(x) @ layer["qkv"]).reshape(-1, SEQ, 3 * HEADS, DIM // HEADS), 3, 2)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(DIM // HEADS)
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(-1, SEQ, DIM) @ layer["out"]
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
    return norm(x) @ params["head"]


def loss_of(params, tokens):
    logp = jax.nn.log_softmax(forward(params, tokens[:, :-1]))
    return -jnp.mean(jnp.take_along_axis(logp, tokens[:, 1:, None], -1))


@jax.jit
def train_step(params, m, v, t, tokens):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens)
    m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
    v = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g * g, v, grads)
    params = jax.tree.map(
        lambda p, a, b: p - 1e-3 * (a / (1 - 0.9**t) / (jnp.sqrt(b / (1 - 0.99**t)) + 1e-8) + 0.01 * p), params, m, v
    )
    return params, m, v, loss


def main():
    jax.devices()  # the client is there: what follows is compiling and running
    begin = time.perf_counter()
    params = jax.jit(init)(jax.random.key(0))
    m = jax.tree.map(jnp.zeros_like, params)
    v = jax.tree.map(jnp.zeros_like, params)
    rng = np.random.default_rng(0)
    losses = []
    for step in range(STEPS):
        tokens = jnp.asarray(rng.integers(0, VOCAB, (BATCH, SEQ + 1)), jnp.int32)
        params, m, v, loss = train_step(params, m, v, jnp.float32(step + 1), tokens)
        losses.append(np.asarray(loss).tobytes().hex())
        if step == 0:
            first_step_s = time.perf_counter() - begin
    with open(OUT, "w") as f:
        json.dump(
            {
                "losses": losses,
                "compiles": len(compile_ms),
                "compile_s": sum(compile_ms) / 1e3,
                "compile_ms": compile_ms,
                "first_step_s": first_step_s,
                "steps": STEPS,
                "device": jax.devices()[0].device_kind,
            },
            f,
        )
    print(f"{STEPS} steps, {len(compile_ms)} compiles, last loss {np.frombuffer(bytes.fromhex(losses[-1]), np.float32)[0]:.5f}")


if __name__ == "__main__":
    main()
