import io

import numpy as np

NODES, CHANNELS = 18, 4


class Archive:
    """Day-chunked key/value store; each value is one .npy blob."""

    def __init__(self):
        self._blobs = {}

    def put(self, day, name, value):
        buf = io.BytesIO()
        np.save(buf, value)
        self._blobs[day, name] = buf.getvalue()

    def get(self, day, name):
        return np.load(io.BytesIO(self._blobs[day, name]))

    def __len__(self):
        return 1 + max(d for d, _ in self._blobs)


def build(days=60, seed=0):
    rng = np.random.default_rng(seed)
    a = Archive()
    pos = rng.uniform(-1, 1, (NODES, 2)).astype(np.float32)
    state = rng.normal(size=(NODES, CHANNELS)).astype(np.float32)
    drift = rng.normal(0, 0.2, (CHANNELS, CHANNELS)).astype(np.float32)
    for day in range(days):
        state = np.tanh(state + state @ drift * 0.3).astype(np.float32)
        a.put(day, "state", state)
        sun = np.maximum(0, np.sin(2 * np.pi * (day / 12 + pos[:, :1])))
        a.put(day, "solar", sun.astype(np.float32) if day < 40 else np.round(sun * 200).astype(np.int16))
    return a, pos


class Windows:
    def __init__(self, archive, lead=1):
        self.archive, self.lead = archive, lead

    def sample(self, start):
        days = range(start + 1, start + 1 + self.lead)
        return {
            "x0": self.archive.get(start, "state"),
            "targets": np.stack([self.archive.get(d, "state") for d in days]),
            "solar": self.archive.get(start, "solar"),
        }
