from dataclasses import dataclass, field

import numpy as np


@dataclass
class Request:
    user: str
    text: str
    per_page: int = 10
    already_shown: set = field(default_factory=set)


USERS = ["ana", "bo", "chi", "dee", "eli"]
WORDS = "red blue small warm light dry shoe coat lamp chair".split()


def stream(n, seed=4):
    rng = np.random.default_rng(seed)
    shown = {u: set() for u in USERS}
    for i in range(n):
        u = USERS[int(rng.integers(len(USERS)))]
        text = " ".join(rng.choice(WORDS, 3))
        page = 10 if i < 20 else int(rng.choice([10, 10, 10, 24]))
        yield Request(u, text, page, shown[u])


def new_arrivals(day, dim):
    rng = np.random.default_rng(1000 + day)
    return rng.normal(size=(16, dim))
