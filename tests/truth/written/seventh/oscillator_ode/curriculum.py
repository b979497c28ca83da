from typing import NamedTuple


class Stage(NamedTuple):
    fraction: float
    friction: float
    steps: int


def stages(n=4, steps=4):
    for i in range(n):
        yield Stage(fraction=(i + 1) / n, friction=max(0.0, 0.3 - 0.1 * (i // 2)), steps=steps)
    yield Stage(1.0, 0.05, steps)
