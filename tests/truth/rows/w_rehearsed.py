"""A service asks its own entry once for each length before the first request; the requests fit these lengths."""
import jax
import jax.numpy as jnp
import numpy as np


class Ranker:
    LENGTHS = (4, 12, 20, 28)

    def __init__(self):
        self.table = jnp.asarray(np.linspace(0, 1, 30 * 6, dtype=np.float32).reshape(30, 6))
        self.score = jax.jit(lambda table, ids: jnp.sum(table[ids] ** 2, axis=1))

    def answer(self, ids):
        room = min(n for n in self.LENGTHS if n >= len(ids))
        padded = np.resize(ids, room)
        return np.asarray(self.score(self.table, padded))[:len(ids)]

    def get_ready(self):
        for n in self.LENGTHS:
            self.answer(np.zeros(n, np.int32))


def main():
    ranker = Ranker()
    ranker.get_ready()
    draw = np.random.default_rng(7)
    for _ in range(40):
        answered = ranker.answer(draw.integers(0, 30, draw.integers(1, 29)).astype(np.int32))
    print(len(answered))


main()
