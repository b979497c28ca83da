# trap: static-argument
# function: smooth
# recompiles: 2
# fix: `decay`, traced
"""A static argument with a default: most calls leave it alone, some do not."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

LENGTH = 32  # size: 16..64 by 8


@functools.partial(jax.jit, static_argnums=(1,))
def smooth(signal, decay=0.9):
    def advance(carry, sample):
        carry = decay * carry + (1.0 - decay) * sample  # origin
        return carry, carry

    return jax.lax.scan(advance, jnp.zeros(signal.shape[1]), signal)[1]


def main():
    rng = np.random.default_rng(41)
    for turn in range(9):
        signal = rng.normal(size=(LENGTH, 3)).astype(np.float32)
        if turn == 4:
            result = smooth(signal, 0.5)  # trigger
        elif turn == 6:
            result = smooth(signal, 0.7)  # trigger
        else:
            result = smooth(signal)
    print("last", np.asarray(result)[-1])


if __name__ == "__main__":
    main()
