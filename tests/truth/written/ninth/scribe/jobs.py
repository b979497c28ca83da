import json
from dataclasses import dataclass, field

QUEUE = """
{"id": "r1", "prompt": [5, 9, 12, 3], "options": {"shortlist": 5}}
{"id": "r2", "prompt": [7, 7, 31, 2], "options": {}}
{"id": "r3", "prompt": [40, 1, 18, 22], "options": {"shortlist": 12}}
{"id": "r4", "prompt": [11, 6, 6, 30], "options": {"length": 4}}
"""


@dataclass
class Options:
    length: int = 5
    shortlist: int = 8


@dataclass
class Job:
    id: str
    prompt: list
    options: Options = field(default_factory=Options)


def read_queue(text=QUEUE):
    for line in text.strip().splitlines():
        d = json.loads(line)
        yield Job(d["id"], d["prompt"], Options(**d["options"]))
