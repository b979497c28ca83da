"""Snapshots in host memory (stands in for the object store)."""
import functools

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


@functools.lru_cache(maxsize=None)
def mesh():
    return Mesh(np.array(jax.devices()), ("row",))


def rows(a):
    return jax.device_put(a, NamedSharding(mesh(), P("row")))


class Vault:
    def __init__(self, every):
        self.every, self._snaps = every, {}

    def maybe_save(self, t, **arrays):
        if t % self.every == 0:
            self._snaps[t] = {k: np.array(a) for k, a in arrays.items()}

    def latest(self):
        t = max(self._snaps)
        return t, {k: rows(a) for k, a in self._snaps[t].items()}
