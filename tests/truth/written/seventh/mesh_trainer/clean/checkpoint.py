import io
import pickle

import jax
import numpy as np


class Rolling:
    """Keeps the last good state in host memory."""

    def __init__(self):
        self.blob = None
        self.at = -1

    def save(self, step, state):
        buf = io.BytesIO()
        leaves, tree = jax.tree.flatten(state)
        pickle.dump([np.asarray(l) for l in leaves], buf)
        self.blob, self.tree, self.at = buf.getvalue(), tree, step
        self.shardings = [l.sharding for l in leaves]

    def load(self):
        leaves = pickle.loads(self.blob)
        return jax.tree.unflatten(self.tree, jax.device_put(leaves, self.shardings))
