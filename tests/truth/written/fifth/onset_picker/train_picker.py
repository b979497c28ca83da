import jax
import numpy as np

import picker
from waveforms import catalogue, split, stream


class Journal:
    """Collects reports, flushes them at the end of an epoch."""

    def __init__(self, every):
        self.every = every
        self.rows = []
        self.seen = 0

    def due(self):
        self.seen += 1
        return self.seen % self.every == 0

    def add(self, report):
        self.rows.append(report)

    def flush(self, epoch, error):
        losses = [float(r["loss"]) for r in self.rows]
        norms = [float(r["grad_norm"]) for r in self.rows if "grad_norm" in r]
        print(f"epoch {epoch}: loss {np.mean(losses):.4f} |g| {np.mean(norms or [0]):.3f} error {float(error):.1f} samples")
        self.rows.clear()


def main():
    traces, target, onset = catalogue(230, seed=4)
    train_ix, test_ix = split(len(traces), 0.87, seed=1)
    layers = picker.init(jax.random.PRNGKey(3))
    opt_state = picker.tx.init(layers)
    journal = Journal(every=10)
    for epoch, last, x, y in stream(traces, target, train_ix, per_step=32, epochs=4, seed=8):
        layers, opt_state, report = picker.update(layers, opt_state, x, y, audit=journal.due())
        journal.add(report)
        if last:
            journal.flush(epoch, picker.pick_error(layers, traces[test_ix], onset[test_ix]))


if __name__ == "__main__":
    main()
