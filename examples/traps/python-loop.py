# trap: python-loop
# function: refine
# recompiles: 3
# fix: fori_loop, scan
"""A solver refines its answer in a Python loop whose number of rounds depends on the request."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

SIZE = 12  # size: 8..24 by 4
FIRST = 2  # size: 2 3 4


@functools.partial(jax.jit, static_argnames="rounds")
def refine(matrix, target, guess, rounds):
    for _ in range(rounds):
        residual = target - matrix @ guess
        guess = guess + 0.1 * jnp.tanh(residual)  # origin
    return guess, jnp.sum((target - matrix @ guess) ** 2)


def main():
    rng = np.random.default_rng(9)
    matrix = np.eye(SIZE, dtype=np.float32) + rng.normal(size=(SIZE, SIZE)).astype(np.float32) * 0.05
    guess = np.zeros(SIZE, np.float32)
    for rounds in [FIRST, FIRST, FIRST + 2, FIRST + 1, FIRST, FIRST + 5, FIRST + 2]:
        target = rng.normal(size=SIZE).astype(np.float32)
        guess, error = refine(matrix, target, guess, rounds=rounds)  # trigger
    print("error", float(error))


if __name__ == "__main__":
    main()
