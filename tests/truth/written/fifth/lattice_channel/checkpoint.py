"""In-memory stand-in for the checkpoint service."""
import jax
import numpy as np

from layout import MESH, NamedSharding, P


class Vault:
    def __init__(self):
        self._blobs = {}

    def save(self, tag, tree):
        self._blobs[tag] = jax.tree.map(np.asarray, tree)

    def restore(self, tag):
        spec = NamedSharding(MESH, P(None, None, "rows"))
        return jax.tree.map(lambda a: jax.device_put(a, spec), self._blobs[tag])
