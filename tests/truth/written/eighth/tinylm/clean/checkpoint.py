import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


class Vault:
    """Keeps the last good state in host memory."""

    def __init__(self):
        mesh = Mesh(np.array(jax.devices()[:1]), ("replica",))
        self.where = NamedSharding(mesh, PartitionSpec())
        self._kept = None
        self.at = -1

    def place(self, tree):
        return jax.device_put(tree, self.where)

    def put(self, step, tree):
        self._kept = jax.device_get(tree)
        self.at = step

    def get(self):
        return self.place(self._kept)
