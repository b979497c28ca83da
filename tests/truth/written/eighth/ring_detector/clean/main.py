import jax
import numpy as np

from gnn import fit, net, tx
from graphs import TransferLog


class Thaw:
    """Opens one more module each time it is asked to."""

    order = ["verdict", "hop_b", "hop_a", "encode"]

    def __init__(self):
        self.depth = 1

    def deeper(self):
        self.depth = min(self.depth + 1, len(self.order))

    @property
    def modules(self):
        return {m: np.float32(i < self.depth) for i, m in enumerate(self.order)}


class Monitor:
    def __init__(self, period):
        self.period = period
        self.lines = []

    def due(self, hour):
        return hour % self.period == self.period - 1

    def record(self, hour, out):
        norms = {m: round(float(v), 3) for m, v in out["norms"].items()}
        self.lines.append(f"hour {hour:2d} loss {float(out['loss']):.4f} recall {float(out['recall']):.2f} {norms}")


def run(hours=24):
    log = TransferLog(seed=13)
    thaw, monitor = Thaw(), Monitor(period=7)
    params = net.init(jax.random.PRNGKey(0), log.hour().as_inputs())
    opt_state = tx.init(params)
    for hour in range(hours):
        g = log.hour().as_inputs()
        params, opt_state, out = fit(params, opt_state, g, thaw.modules)
        if monitor.due(hour):
            monitor.record(hour, out)
        if hour in (9, 15):
            thaw.deeper()
    print("\n".join(monitor.lines))


if __name__ == "__main__":
    run()
