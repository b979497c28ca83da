import functools
from collections import Counter

import torch

from catalog import ProfileStore, traffic
from ranker import Shelf

STATS = Counter()


def counted(name):
    def deco(fn):
        @functools.wraps(fn)
        def inner(*a, **k):
            STATS[name] += 1
            return fn(*a, **k)
        return inner
    return deco


class Endpoint:
    def __init__(self):
        torch.manual_seed(6)
        self.store = ProfileStore()
        self.shelf = Shelf().eval()
        self.rank = torch.compile(self.shelf)

    @counted("requests")
    @torch.inference_mode()
    def handle(self, visit):
        profile = self.store.lookup(visit.visitor)
        ids, values = self.rank(profile)
        ids = ids[:visit.slots]
        weight = torch.softmax(values[:visit.slots], -1)
        return {"visitor": visit.visitor, "shelf": ids.tolist(), "confidence": round(weight[0].item(), 4)}


def main():
    endpoint = Endpoint()
    for visit in traffic():
        reply = endpoint.handle(visit)
        print(reply["visitor"], reply["shelf"], reply["confidence"])
    print(dict(STATS))


if __name__ == "__main__":
    main()
