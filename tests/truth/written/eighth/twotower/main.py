import collections

import numpy as np
import optax
from flax import nnx

from serving import SURFACES
from towers import Retrieval, in_batch_softmax

N_USERS, N_ITEMS = 60, 120


class EventLog:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.taste = self.rng.integers(0, 6, size=N_USERS)

    def batch(self, n=32):
        user = self.rng.integers(0, N_USERS, size=n)
        item = self.taste[user] * 20 + self.rng.integers(0, 20, size=n)
        return {"user": user.astype(np.int32), "item": item.astype(np.int32)}


@nnx.jit
def train_step(model, optimizer, user, item):
    loss, grads = nnx.value_and_grad(in_batch_softmax)(model, user, item)
    optimizer.update(model, grads)
    return loss


def main():
    log = EventLog(8)
    model = Retrieval(N_USERS, N_ITEMS, 16, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(2e-2), wrt=nnx.Param)
    seen = collections.defaultdict(set)
    traffic = [
        [("digest", [3, 9, 27, 41]), ("digest", [5, 6, 7, 8])],
        [("digest", [3, 9, 27, 41]), ("digest", [14, 15, 16, 17])],
        [("digest", [20, 21, 22, 23]), ("home", 50)],
        [("home", 9), ("digest", [5, 6, 7, 8])],
    ]

    for tick in range(12):
        batch = log.batch()
        loss = train_step(model.note(batch), optimizer, batch["user"], batch["item"])
        for kind, who in traffic[tick // 3] if tick % 3 == 2 else ():
            pages = SURFACES[kind].respond(model, who, seen)
            for u, row in zip(np.atleast_1d(who), pages):
                seen[int(u)].update(row[:2])
            print(f"tick {tick} loss {float(loss):.3f} {kind} '{SURFACES[kind].title}' {pages[0]}")
    print("events", model.events)


if __name__ == "__main__":
    main()
