import jax
import numpy as np


class Teacher:
    def __init__(self, dim, classes, seed=20):
        rng = np.random.default_rng(seed)
        self.a = rng.normal(size=(dim, 40)).astype(np.float32) / dim**0.5
        self.b = rng.normal(size=(40, classes)).astype(np.float32)
        self._run = jax.jit(lambda x: jax.nn.relu(x @ self.a) @ self.b)
        self._memo = {}
        self.hits = 0

    def logits(self, key, x):
        if key in self._memo:
            self.hits += 1
            return self._memo[key]
        out = np.asarray(self._run(x))
        self._memo[key] = out
        return out

    def hidden(self, x):
        return np.maximum(x @ self.a, 0.0)
