import jax
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


class Vault:
    def __init__(self, mesh, every):
        self.everywhere = NamedSharding(mesh, P())
        self.every = every
        self.kept = None
        self.pending = None

    def wants(self, it):
        return it % self.every == self.every - 1

    def offer(self, it, before):
        if self.wants(it):
            self.pending = before

    def settle(self):
        if self.pending is not None:
            self.store(self.pending)
            self.pending = None

    def store(self, tree):
        self.kept = jax.tree.map(np.asarray, tree)

    def reload(self):
        put = lambda a: jax.device_put(a, self.everywhere)
        return jax.tree.map(put, self.kept)
