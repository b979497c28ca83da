import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import numpy as np

from parallel import Layout, build_step
from snapshots import SnapshotStore


class Preempted(Exception):
    pass


class Session:
    def __init__(self, steps, save_every):
        self.layout = Layout()
        self.total, self.save_every = steps, save_every
        self.store = SnapshotStore()
        self.step_fns = {d: build_step(self.layout, d) for d in (True, False)}
        self.outages = {14}
        self.teacher = np.random.default_rng(1).normal(size=(12, 4)).astype(np.float32)

    def fresh(self):
        rng = np.random.default_rng(0)
        params = {
            "up": (rng.normal(size=(12, 32)) * 0.3).astype(np.float32),
            "b": np.zeros(32, np.float32),
            "down": (rng.normal(size=(32, 4)) * 0.2).astype(np.float32),
        }
        mom = jax.tree.map(np.zeros_like, params)
        return 0, self.layout.params({"params": params, "mom": mom, "step": np.int32(0)})

    def batch(self, step):
        rng = np.random.default_rng(100 + step)
        x = rng.normal(size=(64, 12)).astype(np.float32)
        return self.layout.batch({"x": x, "y": np.tanh(x @ self.teacher)})

    def lr(self, step):
        return np.float32(0.05 * min(1.0, (step + 1) / 5))

    def span(self, start, state):
        for step in range(start, self.total):
            if step in self.outages:
                self.outages.discard(step)
                raise Preempted(step)
            pinned = bool(self.store.waiting)
            state, loss = self.step_fns[not pinned](state, self.batch(step), self.lr(step))
            if pinned:
                self.store.wait()
            if (step + 1) % self.save_every == 0:
                self.store.save(step + 1, state)
            if step % 4 == 0:
                print(f"step {step} loss {float(loss):.4f}")
        return state

    def run(self):
        start, state = self.fresh()
        while True:
            try:
                return self.span(start, state)
            except Preempted as stop:
                start, state = self.store.latest()
                print("stopped at", stop, "- going on from", start)


if __name__ == "__main__":
    end = Session(steps=22, save_every=6).run()
    print("done", int(end["step"]))
