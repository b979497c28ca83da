"""Y: the method that decides is one of several of its name: a class derives from the one that yields, and a loop
calls each listener."""
import jax
import jax.numpy as jnp
import numpy as np


class Source:
    def __iter__(self):
        for tick in range(12):
            yield self.frame(tick)

    def frame(self, tick):
        raise NotImplementedError


class Sonar(Source):
    def __init__(self):
        self.draw = np.random.default_rng(0)

    def frame(self, tick):
        depth = 6 + tick // 4
        return {"echo": self.draw.normal(size=(3, 16)).astype(np.float32)[:, :depth]}


class Listener:
    def heard(self, tick, frame):
        return frame


class Log(Listener):
    def __init__(self):
        self.lines = []

    def heard(self, tick, frame):
        self.lines.append(tick)
        return frame


class Tide(Listener):
    def heard(self, tick, frame):
        if tick >= 9:
            frame["level"] = np.full(3, 0.1 * tick, np.float32)
        return frame


@jax.jit
def trace(floor, frame):
    seen = jnp.mean(jnp.sort(frame["echo"], axis=1))
    if "level" in frame:
        seen = seen - jnp.mean(frame["level"])
    return 0.9 * floor + 0.1 * seen


class Survey:
    def __init__(self, source, listeners):
        self.source, self.listeners = source, listeners

    def run(self):
        floor = jnp.float32(0.0)
        for tick, frame in enumerate(self.source):
            for listener in self.listeners:
                frame = listener.heard(tick, frame)
            floor = trace(floor, frame)
        return floor


print(float(Survey(Sonar(), [Tide(), Log()]).run()))
