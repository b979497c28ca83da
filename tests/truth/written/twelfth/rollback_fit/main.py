import tempfile

import numpy as np

from guard import Guard
from snapshot import Snapshots
from train import Trainer


def batches(n, seed=2):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=6)
    for i in range(n):
        x = rng.normal(size=(24, 6)).astype(np.float32)
        y = np.tanh(x @ w) * (25.0 if i == 8 else 1.0)
        yield x, y.astype(np.float32)


def main():
    with tempfile.TemporaryDirectory() as folder:
        snaps = Snapshots(folder)
        Trainer().run(batches(14), Guard(snaps), snaps)
        print("snapshots", snaps.written)


if __name__ == "__main__":
    main()
