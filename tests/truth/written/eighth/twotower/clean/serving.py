from functools import partial

import jax
import numpy as np
from flax import nnx

SURFACES = {}
DEPTH = 40
ROWS = 4


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
        people = np.atleast_1d(who)
        hidden = set().union(*(seen.get(int(u), ()) for u in people))
        ids = np.zeros(ROWS, np.int32)
        ids[: len(people)] = people
        found = np.asarray(retrieve(model, ids, DEPTH))[: len(people)]
        return [[i for i in row if i not in hidden][: self.page] for row in found.tolist()]


@surface("digest")
class Digest(Surface):
    title = "your week"


@surface("home")
class Home(Surface):
    title = "for you"
