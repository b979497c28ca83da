import itertools
from typing import NamedTuple

import numpy as np

SLOTS = {"mobile": 1, "feed": 3, "search": 4, "gallery": 6}
MOST = max(SLOTS.values())


class Page(NamedTuple):
    layout: str
    slots: int


def page_for(layout):
    return Page(layout, SLOTS[layout])


class Exchange:
    registry = {}

    def __init_subclass__(cls, code, **kw):
        super().__init_subclass__(**kw)
        Exchange.registry[code] = cls

    terms = {}
    layouts = ("feed",)

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self._pages = itertools.cycle(self.layouts)

    def lots(self, n):
        lot = {
            "value": self.rng.gamma(2.0, 0.5, n).astype(np.float32),
            "ctx": self.rng.normal(size=(n, 5)).astype(np.float32),
            "floor": np.zeros(n, np.float32),
            "rivals": self.rng.gamma(2.0, 0.3, (n, 8)).astype(np.float32),
        }
        if self.terms.get("floor"):
            lot["floor"] = self.rng.uniform(0.1, 0.4, n).astype(np.float32)
        return page_for(next(self._pages)), lot


class Northbook(Exchange, code="nb"):
    layouts = ("feed",)


class Quill(Exchange, code="ql"):
    terms = {"fee": 0.08}
    layouts = ("feed", "search")


class Marquee(Exchange, code="mq"):
    terms = {"fee": 0.12, "floor": True}
    layouts = ("gallery", "mobile")
