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


class layout:
    def __init__(self, shelf, visit):
        self.shelf, self.visit = shelf, visit

    def __enter__(self):
        self.previous, self.shelf.slots = self.shelf.slots, self.visit.slots
        return self.shelf

    def __exit__(self, *exc):
        self.shelf.slots = self.previous


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
        with layout(self.shelf, visit):
            ids, weight = self.rank(profile)
        return {"visitor": visit.visitor, "shelf": ids.tolist(), "confidence": round(weight[0].item(), 4)}


def main():
    endpoint = Endpoint()
    for visit in traffic():
        reply = endpoint.handle(visit)
        print(reply["visitor"], reply["shelf"], reply["confidence"])
    print(dict(STATS))


if __name__ == "__main__":
    main()
