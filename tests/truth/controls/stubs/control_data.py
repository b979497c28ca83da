"""Synthetic data in place of what the examples of JAX and numpyro download."""

import numpy as np


def mnist(permute_train=False):
    rng = np.random.default_rng(0)

    def part(size):
        return rng.random((size, 784), dtype=np.float32), np.eye(10, dtype=np.float32)[rng.integers(0, 10, size)]

    return (*part(1000), *part(200))
