"""Synthetic data in place of what JAX's examples download, and writers of metrics that write nothing."""

import numpy as np


def mnist(permute_train=False):
    rng = np.random.default_rng(0)

    def part(size):
        return rng.random((size, 784), dtype=np.float32), np.eye(10, dtype=np.float32)[rng.integers(0, 10, size)]

    return (*part(1000), *part(200))


class SummaryWriter:
    def __init__(self, *_, **__):
        pass

    def __getattr__(self, name):
        return lambda *_, **__: None


def create_default_writer(*_, **__):
    return SummaryWriter()
