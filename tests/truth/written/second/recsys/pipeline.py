import numpy as np


def clicks(n, seed):
    r = np.random.default_rng(seed)
    for _ in range(n):
        yield {"user": int(r.integers(40)), "item": int(r.integers(60)), "y": float(r.random() > 0.5)}


def batched(rows, size):
    bucket = []
    for row in rows:
        bucket.append(row)
        if len(bucket) == size:
            yield bucket
            bucket = []
    if bucket:
        yield bucket


def columns(batches):
    for b in batches:
        yield {k: np.asarray([r[k] for r in b], np.int32 if k != "y" else np.float32) for k in b[0]}


def with_price(batches, every):
    for i, b in enumerate(batches):
        if i % every == every - 1:
            b["price"] = np.full(len(b["y"]), 0.5, np.float32)
        yield b


STAGES = [lambda x: batched(x, 16), columns, lambda x: with_price(x, 5)]


def build(n, seed):
    out = clicks(n, seed)
    for stage in STAGES:
        out = stage(out)
    return out
