"""What the step should compute besides the update, decided on the host."""
from typing import Iterable

CONF = """
train.steps      = 36
train.lr         = 0.01
train.warmup     = 6
train.unroll     = 20
log.norms_every  = 14
log.scalars      = 4
data.seed        = 9
"""


def parse(text: str) -> dict:
    out: dict = {}
    for line in text.strip().splitlines():
        k, v = (s.strip() for s in line.split("="))
        sect, name = k.split(".")
        out.setdefault(sect, {})[name] = float(v) if "." in v else int(v)
    return out


class Wanted:
    def __init__(self, log: dict):
        self.log = log

    def __call__(self, step: int) -> frozenset:
        todo = {"loss"}
        match divmod(step + 1, self.log["norms_every"]):
            case (_, 0):
                todo.add("layer_norms")
            case _:
                pass
        return frozenset(todo)


def average(rows: Iterable[dict], name: str) -> float:
    vals = [float(r[name]) for r in rows if name in r]
    return sum(vals) / max(len(vals), 1)
