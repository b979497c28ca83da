from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames="k")
def hardest(pool, centre, k):
    score, where = jax.lax.top_k(pool @ centre, k)
    return where, score


class Miner:
    def __init__(self, refresh, margin=0.15, cap=40, start=8):
        self.refresh, self.margin, self.cap = refresh, margin, cap
        self.want = start
        self.ids = None

    def after_step(self, step, index, query_vec):
        if step % self.refresh:
            return
        close = jnp.sum(index @ query_vec > self.margin)
        self.want = int(np.clip(int(close), 4, self.cap))
        self.ids = None

    def negatives(self, docs, index, query_vec):
        if self.ids is None:
            where, _ = hardest(index, query_vec, k=self.want)
            self.ids = np.asarray(where)
        return docs[self.ids]
