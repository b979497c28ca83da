"""Trains a line and says each time how its weights spread."""
import logging
import sys

import jax
import jax.numpy as jnp
import numpy as np

log = logging.getLogger(__name__)


@jax.jit
def step(w, x, y):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


def main():
    logging.basicConfig(level=logging.INFO, stream=sys.stdout)
    rng = np.random.default_rng(1)
    w = jnp.ones(6)
    for _ in range(12):
        x = rng.standard_normal((8, 6)).astype(np.float32)
        w = step(w, x, x[:, 0])
        log.info("spread %s", jnp.std(w))


if __name__ == "__main__":
    main()
