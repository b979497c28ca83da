import csv
import io

import numpy as np

REGIONS = ["north", "south", "east", "west", "coast"]


def issue_bulletins(weeks=11, history=8, seed=17):
    """Each week's bulletin as CSV text: region, exposure, then the counts of the last weeks."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(20, 60, size=len(REGIONS))
    t = np.arange(weeks + history)
    rate = base[:, None] * np.exp(0.25 * np.sin(t / 4.0))
    counts = rng.poisson(rate)
    for w in range(weeks):
        out = io.StringIO()
        rows = csv.writer(out)
        for r, name in enumerate(REGIONS):
            if name == "east" and w in (6, 7):
                continue
            rows.writerow([name, f"{base[r]:.3f}", *counts[r, w:w + history]])
        yield w, out.getvalue()


def parse(text):
    names, exposure, counts = [], [], []
    for row in csv.reader(io.StringIO(text)):
        names.append(row[0])
        exposure.append(float(row[1]))
        counts.append([int(c) for c in row[2:]])
    return names, np.asarray(exposure, np.float32), np.asarray(counts, np.int32)
