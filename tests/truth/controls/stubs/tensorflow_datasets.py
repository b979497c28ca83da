"""Synthetic data behind the few calls of tensorflow_datasets that the control programs make."""

import numpy as np

import tensorflow as tf

SIZES = {"train": 600, "test": 150, "validation": 150}
TEXT = "the quick brown fox jumps over the lazy dog and runs away from the wolf. "


class Split:
    TRAIN = "train"
    TEST = "test"
    VALIDATION = "validation"


class _Splits(dict):
    def __missing__(self, name):
        class Info:
            num_examples = SIZES.get(name, 1200)
        return Info


class _Info:
    splits = _Splits()


def _examples(name, split):
    rng = np.random.default_rng(len(split))
    size = SIZES.get(split, 1200)
    if "shakespeare" in name:
        return [{"text": (TEXT * 200).encode()}]
    side, depth = (32, 3) if "cifar" in name else (28, 1)
    images = rng.integers(0, 256, (size, side, side, depth), dtype=np.uint8)
    labels = rng.integers(0, 10, size)
    return [{"image": i, "label": np.int64(k)} for i, k in zip(images, labels)]


def load(name, split=None, with_info=False, as_supervised=False, **_):
    def one(part):
        rows = _examples(name, part)
        if as_supervised:
            rows = [(r["image"], r["label"]) for r in rows]
        return tf.data.Dataset(rows)
    if split is None:
        found = {part: one(part) for part in SIZES}
    elif isinstance(split, (list, tuple)):
        found = [one(part) for part in split]
    else:
        found = one(split)
    return (found, _Info) if with_info else found


class _Source(list):
    class dataset_info:
        class _Image:
            shape = (28, 28, 1)

        class _Label:
            num_classes = 10

        features = {"image": _Image, "label": _Label}


def data_source(name, split, **_):
    if isinstance(split, list):
        return [_Source(_examples(name, part)) for part in split]
    return _Source(_examples(name, split))


class builder:
    info = _Info

    def __init__(self, name):
        self.name = name

    def download_and_prepare(self):
        pass

    def as_dataset(self, split):
        return load(self.name, split)


def as_numpy(data):
    return data
