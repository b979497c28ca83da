import collections

import numpy as np

Step = collections.namedtuple("Step", "obs act rew nxt end")


class Memory:
    def __init__(self, room, take, seed=0):
        self.items = collections.deque(maxlen=room)
        self.take = take
        self.rng = np.random.default_rng(seed)

    def push(self, *fields):
        self.items.append(Step(*fields))

    def ready(self, floor):
        return len(self.items) >= floor

    def draw(self):
        n = min(self.take, len(self.items))
        rows = self.rng.choice(len(self.items), n, replace=False)
        picked = [self.items[i] for i in rows]
        return Step(*(np.stack(col) for col in zip(*picked)))
