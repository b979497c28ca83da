import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


class Vault:
    """Keeps the last good state in host memory."""

    def __init__(self):
        self.mesh = Mesh(np.array(jax.devices()[:1]), ("replica",))
        self._kept = None
        self.at = -1

    def put(self, step, tree):
        self._kept = jax.device_get(tree)
        self.at = step

    def get(self):
        where = NamedSharding(self.mesh, PartitionSpec())
        return jax.device_put(self._kept, where)
