"""A run of four ranks of which one drifts: rank, function and change are named while it runs.

usage: test_ranks.py BUILD_DIR PYTHON
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def main():
    build, python = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
    bad = []
    with tempfile.TemporaryDirectory() as state:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_"))}
        env.update(STET_STATE_DIR=state, TORCH_DEVICE_BACKEND_AUTOLOAD="0", PYTHONWARNINGS="ignore",
                   OMP_NUM_THREADS="1")
        go = pathlib.Path(state, "go")
        run = subprocess.Popen([build / "bin" / "stet", "run", f"--metrics-file={state}/ranks.prom",
                                f"--json-events={state}/events.json", "--", python, HERE / "ranks.py", state, go], env=env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        told, lines = None, []
        for line in run.stderr:
            lines.append(line)
            if "rank-divergence" in line and told is None:
                told = (time.time(), line)
                go.touch()  # until it is told, it runs
        output = run.stdout.read()
        if run.wait(timeout=200):
            bad.append(f"exit {run.returncode}")
        if told is None:
            bad.append("no divergence told")
        else:
            done = float(output.split("done ")[1])
            if told[0] > done:
                bad.append("told only when it was over")
            wanted = "rank-divergence and shape-drift: rank 2 compiles step again, and 3 other ranks do not, such as rank 0"
            if wanted not in told[1]:
                bad.append(f"{told[1]!r} is not {wanted!r}")
        events = [json.loads(l) for l in pathlib.Path(state, "events.json").read_text().splitlines()]
        again = [(e["lane"], e["rank"], e["class"], e["function"]) for e in events if "divergences" not in e]
        found = [(d["rank"], d["other"], d["alone"], [(c["from"], c["to"]) for c in d["changes"]])
                 for e in events for d in e.get("divergences", ())]
        if (again, found) != ([("torch", 2, "shape-drift", "step")], [(2, 0, True, [("8", "9")])]):
            bad.append(f"events: {events}")
        explain = subprocess.run([build / "bin" / "stet", "explain", "--format=json"], env=env, capture_output=True)
        again = json.loads(explain.stdout)["recompiles"]
        if [r["rank"] for r in again] != [2] or "rank-divergence" not in again[0]["also"]:
            bad.append(f"explain: {[(r['rank'], r['class'], r['also']) for r in again]}")
        told_of = re.findall(r'^stet_compiles_total\{.*rank="(\d)",lane="torch"\} (\d)',
                             pathlib.Path(state, "ranks.prom").read_text(), re.M)
        if told_of != [("0", "1"), ("1", "1"), ("2", "2"), ("3", "1")]:
            bad.append(f"metrics: {told_of}")
        top = subprocess.run([build / "bin" / "stet", "top", "--once"], env=env, capture_output=True, text=True).stdout
        if not re.search(r"^ +2 +\d+ +1 +2 +1 ", top, re.M):
            bad.append(f"top: {top}")
    if bad:
        print("".join(lines)[-3000:])
    for b in bad:
        print("wrong:", b)
    print("right" if not bad else "", told and told[1].strip())
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
