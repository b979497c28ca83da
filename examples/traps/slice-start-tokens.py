# trap: slice-start
# also: static-argument
# function: next_chunk
# recompiles: 3
# fix: dynamic_slice
"""A long document is read in chunks inside jitted code, with the gradient of a soft prompt."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

LENGTH = 96  # size: 96 128 160
CHUNK = 24  # size: 16 20 24
WIDTH = 8  # size: 8 12


@functools.partial(jax.jit, static_argnames="position")
def next_chunk(prompt, document, position):
    def loss_of(p):
        chunk = jax.lax.slice(document, (position, 0), (position + CHUNK, WIDTH))  # origin
        return jnp.mean((chunk @ p - 1.0) ** 2)

    return prompt - 0.1 * jax.grad(loss_of)(prompt)


def main():
    rng = np.random.default_rng(47)
    document = jax.device_put(rng.normal(size=(LENGTH, WIDTH)).astype(np.float32))
    prompt = np.zeros(WIDTH, np.float32)
    for _ in range(3):
        for position in (0, CHUNK, 2 * CHUNK, 3 * CHUNK):
            prompt = next_chunk(prompt, document, position=position)  # trigger
    print("prompt", np.asarray(prompt)[:2])


if __name__ == "__main__":
    main()
