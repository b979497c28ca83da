from functools import partial

import jax
import numpy as np
from flax import nnx

SURFACES = {}


def surface(name):
    def deco(cls):
        SURFACES[name] = cls()
        return cls
    return deco


@partial(nnx.jit, static_argnames=("k",))
def retrieve(model, user, k):
    return jax.lax.top_k(model.scores(user), k)[1]


class Surface:
    page = 8
    title = ""

    def respond(self, model, who, seen):
        ids = np.asarray(who, np.int32)
        hidden = set().union(*(seen.get(int(u), ()) for u in np.atleast_1d(ids)))
        found = np.asarray(retrieve(model, ids, self.depth(hidden)))
        return [[i for i in row if i not in hidden][: self.page] for row in np.atleast_2d(found).tolist()]

    def depth(self, hidden):
        return self.page + len(hidden)


@surface("digest")
class Digest(Surface):
    title = "your week"


@surface("home")
class Home(Surface):
    title = "for you"
