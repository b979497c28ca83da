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
    found = {}
    for row in csv.reader(io.StringIO(text)):
        found[row[0]] = float(row[1]), [int(c) for c in row[2:]]
        width = len(row) - 2
    missing = 1.0, [0] * width
    exposure, counts = zip(*(found.get(r, missing) for r in REGIONS))
    reported = np.array([r in found for r in REGIONS])
    return list(found), np.asarray(exposure, np.float32), np.asarray(counts, np.int32), reported
