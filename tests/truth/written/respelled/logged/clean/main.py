"""Trains a line and says each time how its weights spread."""
import logging
import sys

import jax
import jax.numpy as jnp
import numpy as np

log = logging.getLogger(__name__)


@jax.jit
def step(w, x, y):
    w = w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w, jnp.std(w)


def main():
    logging.basicConfig(level=logging.INFO, stream=sys.stdout)
    rng = np.random.default_rng(1)
    w = jnp.ones(6)
    for number in range(12):
        x = rng.standard_normal((8, 6)).astype(np.float32)
        w, spread = step(w, x, x[:, 0])
        if number % 5 == 4:
            log.info("spread %s", spread)


if __name__ == "__main__":
    main()
