"""A stand-in for the few parts of TensorFlow with which the control programs load data."""

import os
import random as python_random
import types

import numpy as np

float32 = np.float32
int32 = np.int32
uint8 = np.uint8


def cast(x, dtype):
    return np.asarray(x).astype(dtype)


def reshape(x, shape):
    return np.reshape(x, shape)


def _stack(rows):
    first = rows[0]
    if isinstance(first, dict):
        return {k: _stack([r[k] for r in rows]) for k in first}
    if isinstance(first, tuple):
        columns = [_stack(list(c)) for c in zip(*rows)]
        return type(first)(*columns) if hasattr(first, "_fields") else tuple(columns)
    return np.stack([np.asarray(r) for r in rows])


class Dataset:
    """Rows that can be walked more than once; each method makes another one."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows() if callable(self.rows) else self.rows)

    def __len__(self):
        return sum(1 for _ in self)

    def as_numpy_iterator(self):
        return iter(self)

    def map(self, function, **_):
        def rows():
            for row in self:
                yield function(row)
        return Dataset(rows)

    def batch(self, size, drop_remainder=False, **_):
        def rows():
            kept = []
            for row in self:
                kept.append(row)
                if len(kept) == size:
                    yield _stack(kept)
                    kept = []
            if kept and not drop_remainder:
                yield _stack(kept)
        return Dataset(rows)

    def repeat(self, count=None):
        def rows():
            turn = 0
            while count is None or turn < count:
                yield from self
                turn += 1
        return Dataset(rows)

    def shuffle(self, buffer_size, seed=0, **_):
        def rows():
            choose = python_random.Random(seed)
            kept = []
            for row in self:
                kept.append(row)
                if len(kept) >= min(buffer_size, 512):
                    yield kept.pop(choose.randrange(len(kept)))
            while kept:
                yield kept.pop(choose.randrange(len(kept)))
        return Dataset(rows)

    def concatenate(self, other):
        def rows():
            yield from self
            yield from other
        return Dataset(rows)

    def take(self, count):
        def rows():
            for i, row in enumerate(self):
                if i >= count:
                    return
                yield row
        return Dataset(rows)

    def prefetch(self, *_, **__):
        return self

    def cache(self):
        return self


data = types.SimpleNamespace(Dataset=Dataset, AUTOTUNE=-1)
io = types.SimpleNamespace(gfile=types.SimpleNamespace(makedirs=lambda p: os.makedirs(p, exist_ok=True)))
config = types.SimpleNamespace(experimental=types.SimpleNamespace(set_visible_devices=lambda *a: None))
Tensor = np.ndarray
random = types.SimpleNamespace(set_seed=lambda seed: None)
