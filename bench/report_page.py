"""First paint of a report with very many compiles, in headless Chromium.

usage: report_page.py BUILD_DIR [--compiles N] [--rounds N] [--keep DIR] [--limit MS]

Writes a run of N compiles (100000) on 4 ranks by the journal's own writer, explains it, makes the report, and opens it five
times (--rounds): prints when the headline was painted and when all was drawn, each the median. Exits 1
when the page complains, when the headline waited for all the rest, or the first paint took longer than --limit.
"""

import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "report"))
from browser import Browser  # noqa: E402

RUN = "20260101-000000-aaaaaa"
PAINT = "(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--compiles", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep")
    parser.add_argument("--limit", type=float)
    args = parser.parse_args()
    folder = args.keep or tempfile.mkdtemp(prefix="stet-report-bench-")
    try:
        source = os.path.join(folder, "train.py")
        with open(source, "w", encoding="utf-8") as f:
            f.write("import jax\ndef train_step(batch):\n    return batch * batch\ndef main():\n    train_step(1)\n")
        env = dict(os.environ, STET_STATE_DIR=os.path.join(folder, "state"))
        subprocess.run([args.build / "bin" / "make_run", env["STET_STATE_DIR"], RUN, str(args.compiles), "4", source], check=True)
        page = os.path.join(folder, "report.html")
        before = os.times()
        subprocess.run([args.build / "bin" / "stet", "report", RUN, "-o", page], check=True, env=env, stdout=subprocess.DEVNULL)
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{args.compiles} compiles: explained and written in {cpu:.1f} s of CPU, peak {peak:.0f} MB; "
              f"the page has {os.path.getsize(page) / 1e6:.1f} MB")
        paints, ready = [], []
        with Browser() as browser:
            for _ in range(args.rounds):
                tab = browser.page()
                tab.open("file://" + page)
                ready.append(tab.js("performance.getEntriesByName('drawn')[0].startTime"))
                paints.append(tab.js(PAINT))
                if tab.problems():
                    print(tab.problems())
                    return 1
        print(f"first paint {statistics.median(paints):.0f} ms ({min(paints):.0f}–{max(paints):.0f}), "
              f"all drawn {statistics.median(ready):.0f} ms ({min(ready):.0f}–{max(ready):.0f})")
        first = statistics.median(paints)
        return int(first > statistics.median(ready) or bool(args.limit and first >= args.limit))
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
