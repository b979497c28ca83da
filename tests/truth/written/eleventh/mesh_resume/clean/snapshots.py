import io
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np


class SnapshotStore:
    def __init__(self):
        self.blobs = {}
        self.pool = ThreadPoolExecutor(1)
        self.waiting = []

    def _write(self, step, state):
        leaves, tree = jax.tree.flatten(state)
        buf = io.BytesIO()
        np.savez(buf, *[np.asarray(a) for a in leaves])
        self.blobs[step] = (buf.getvalue(), tree)

    def save(self, step, state):
        self.waiting.append(self.pool.submit(self._write, step, jax.device_get(state)))

    def wait(self):
        for f in self.waiting:
            f.result()
        self.waiting.clear()

    def latest(self):
        self.wait()
        step = max(self.blobs)
        raw, tree = self.blobs[step]
        with np.load(io.BytesIO(raw)) as z:
            leaves = [z[k] for k in z.files]
        return step, jax.tree.unflatten(tree, leaves)
