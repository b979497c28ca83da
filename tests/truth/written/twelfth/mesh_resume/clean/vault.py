import jax
import numpy as np


class Vault:
    def __init__(self, every):
        self.every = every
        self.kept = None
        self.pending = None

    def wants(self, it):
        return it % self.every == self.every - 1

    def offer(self, it, before):
        if self.wants(it):
            self.pending = jax.tree.map(np.array, before)

    def settle(self):
        if self.pending is not None:
            self.store(self.pending)
            self.pending = None

    def store(self, tree):
        self.kept = jax.tree.map(np.array, tree)

    def reload(self, like):
        return jax.tree.map(lambda a, ref: jax.device_put(a, ref.sharding), self.kept, like)
