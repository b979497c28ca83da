import dataclasses
import heapq
import itertools
from typing import Any


@dataclasses.dataclass(frozen=True)
class Event:
    day: int
    kind: str
    payload: Any = None


class Calendar:
    RANK = {"listing": 0, "delisting": 1, "bar": 2, "month_end": 3}

    def __init__(self):
        self._heap = []
        self._tie = itertools.count()

    def push(self, ev: Event):
        heapq.heappush(self._heap, (ev.day, self.RANK[ev.kind], next(self._tie), ev))

    def __iter__(self):
        while self._heap:
            yield heapq.heappop(self._heap)[-1]


def trading_year(days: int, month: int, corporate_actions) -> Calendar:
    cal = Calendar()
    for d in range(days):
        cal.push(Event(d, "bar"))
        if d % month == month - 1:
            cal.push(Event(d, "month_end"))
    for d, kind, who in corporate_actions:
        cal.push(Event(d, kind, who))
    return cal
