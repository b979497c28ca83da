"""Clips of sound, cut from a long synthetic recording."""
import numpy as np


class Recording:
    def __init__(self, seconds=30, rate=200, seed=7):
        self.rate = rate
        rng = np.random.default_rng(seed)
        t = np.arange(seconds * rate) / rate
        self.clean = np.sin(2 * np.pi * 3 * t) + 0.5 * np.sin(2 * np.pi * 11 * t)
        self.noisy = self.clean + 0.3 * rng.standard_normal(t.size)

    def cut(self, start, frames):
        return self.noisy[start:start + frames], self.clean[start:start + frames]


def _stack(parts, width):
    out = np.zeros((len(parts), width), np.float32)
    for row, part in zip(out, parts):
        row[:part.size] = part
    return out


def batches(recording, size, spans, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(spans))
    for at in range(0, len(order), size):
        pairs = [recording.cut(*spans[i]) for i in order[at:at + size]]
        width = 40 + 8 * 12
        yield {
            "noisy": _stack([n for n, _ in pairs], width),
            "clean": _stack([c for _, c in pairs], width),
            "lengths": np.array([n.size for n, _ in pairs], np.int32),
        }


def spans_of(recording, count, seed=1):
    rng = np.random.default_rng(seed)
    lengths = 40 + 8 * rng.integers(0, 12, count)
    starts = rng.integers(0, recording.clean.size - lengths.max(), count)
    return list(zip(starts.tolist(), lengths.tolist()))
