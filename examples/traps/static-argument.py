# trap: static-argument
# function: sample
# recompiles: 4
# fix: static, `temperature`, traced
"""Sampling takes its temperature as a static argument, and every request brings its own."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

VOCAB = 48  # size: 16..96 by 16
WIDTH = 16  # size: 8..32 by 8


def logits_of(params, tokens):
    hidden = jnp.tanh(params["embed"][tokens].mean(1) @ params["mix"])
    return hidden @ params["embed"].T


@functools.partial(jax.jit, static_argnames=("temperature",))
def sample(params, tokens, noise, temperature):
    logits = logits_of(params, tokens)
    gumbel = -jnp.log(-jnp.log(noise))
    return jnp.argmax(logits / temperature + gumbel, axis=-1)  # origin


def main():
    rng = np.random.default_rng(1)
    params = {
        "embed": rng.normal(size=(VOCAB, WIDTH)).astype(np.float32),
        "mix": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.2,
    }
    tokens = rng.integers(0, VOCAB, size=(4, 12)).astype(np.int32)
    for temperature in [0.7, 0.7, 0.9, 1.1, 0.7, 1.3, 0.85, 0.9]:
        for _ in range(2):
            noise = rng.uniform(1e-6, 1.0, size=(4, VOCAB)).astype(np.float32)
            chosen = sample(params, tokens, noise, temperature=temperature)  # trigger
            tokens = np.concatenate([tokens[:, 1:], np.asarray(chosen)[:, None].astype(np.int32)], axis=1)
    print("last tokens", tokens[:, -1])


if __name__ == "__main__":
    main()
