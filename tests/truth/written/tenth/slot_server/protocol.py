import json
from dataclasses import dataclass, field

TRAFFIC = """
{"id": "a", "prompt": [3, 9, 4, 11], "max_tokens": 9, "temperature": 1, "top_k": 8}
{"id": "b", "prompt": [17, 2, 5, 6, 7, 8, 31], "max_tokens": 12, "temperature": 1, "top_k": 8}
{"id": "c", "prompt": [40, 41, 42], "max_tokens": 16, "temperature": 1}
{"id": "d", "prompt": [1, 2, 3, 4, 5, 6, 7, 8, 9], "max_tokens": 10, "temperature": 0.7, "top_k": 8}
{"id": "e", "prompt": [77, 12], "max_tokens": 22, "temperature": 1, "top_k": 20}
{"id": "f", "prompt": [50, 51, 52, 53, 54], "max_tokens": 8, "temperature": 1}
{"id": "g", "prompt": [8, 8, 8], "max_tokens": 30, "temperature": 1, "top_k": 8}
"""


@dataclass
class Request:
    id: str
    prompt: list
    max_tokens: int
    temperature: float = 1.0
    top_k: int = 8
    output: list = field(default_factory=list)

    @property
    def finished(self):
        return len(self.output) >= self.max_tokens


def arrivals():
    for line in TRAFFIC.strip().splitlines():
        yield Request(**json.loads(line))
