import dataclasses
import json
from collections import deque


@dataclasses.dataclass(frozen=True)
class SamplingOptions:
    temperature: float = 1.0
    top_k: int = 8


@dataclasses.dataclass
class Request:
    rid: str
    prompt: list
    max_new: int
    options: SamplingOptions

    @classmethod
    def parse(cls, line):
        raw = json.loads(line)
        opts = SamplingOptions(**raw.get("options", {}))
        return cls(raw["id"], raw["prompt"], raw.get("max_new", 8), opts)


class Inbox:
    def __init__(self, lines):
        self._q = deque(Request.parse(l) for l in lines)

    def __iter__(self):
        while self._q:
            yield self._q.popleft()


TRAFFIC = [
    '{"id": "a1", "prompt": [3, 14, 15, 9, 2], "max_new": 8}',
    '{"id": "a2", "prompt": [7, 1], "max_new": 6}',
    '{"id": "b1", "prompt": [11, 12, 13], "max_new": 8, "options": {"temperature": 0.7}}',
    '{"id": "a3", "prompt": [5, 5, 5, 1, 2, 3, 4], "max_new": 7}',
    '{"id": "c1", "prompt": [1, 2], "max_new": 5, "options": {"temperature": 0.2, "top_k": 3}}',
    '{"id": "a4", "prompt": [21, 8, 30], "max_new": 8}',
]
