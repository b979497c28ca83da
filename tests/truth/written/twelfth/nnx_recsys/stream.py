from collections import namedtuple

import numpy as np

Impression = namedtuple("Impression", "user item weight session")


class ImpressionStream:
    def __init__(self, n_users, n_items, batch, seed=5):
        self.rng = np.random.default_rng(seed)
        self.n_users, self.n_items, self.batch = n_users, n_items, batch

    def records(self, n):
        for i in range(n):
            user = self.rng.integers(0, self.n_users, self.batch).astype(np.int32)
            item = ((user * 7 + self.rng.integers(0, 2, self.batch)) % self.n_items).astype(np.int32)
            weight = self.rng.uniform(0.5, 1.5, self.batch).astype(np.float32)
            session = self.rng.normal(size=(self.batch, 4)).astype(np.float32) if i % 5 == 3 else None
            yield Impression(user, item, weight, session)

    def batches(self, n):
        for rec in self.records(n):
            out = {"user": rec.user, "item": rec.item, "weight": rec.weight}
            if rec.session is not None:
                out["session"] = rec.session
            yield out
