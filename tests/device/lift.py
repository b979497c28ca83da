"""On a machine with an accelerator: JAX with and without --lift, on the functions of tests/lift and on
a transformer whose learning rate changes in every step.

usage: lift.py BUILD_DIR OUT_DIR     BUILD_DIR has bin/stet and lib/libstet.so

Prints a table: how many results are equal bit by bit, the largest difference in units in the last
place, how many programs were compiled and lifted, and the median time of a first call."""

import json
import os
import statistics
import subprocess
import sys

import numpy as np

BUILD, OUT = (os.path.abspath(p) for p in sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
STET = os.path.join(BUILD, "bin", "stet")
SCRIPTS = {
    "cases": os.path.join(HERE, "..", "lift", "cases.py"),
    "transformer": os.path.join(HERE, "lift_train.py"),
}


def run(name, kind, *options):
    results = os.path.join(OUT, f"{name}-{kind}.npz")
    log = os.path.join(OUT, f"{name}-{kind}.log")
    env = dict(os.environ, STET_STATE_DIR=os.path.join(OUT, "state-" + name + kind), STET_LOG=log,
               XLA_FLAGS="--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0",
               XLA_PYTHON_CLIENT_PREALLOCATE="false", TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run([STET, "run", "--no-store", "--quiet", *options, "--", sys.executable,
                           SCRIPTS[name], results], env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name} {kind}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    explained = subprocess.run([STET, "explain", "--format=json"], env=env, capture_output=True,
                               text=True)
    with open(log, encoding="utf-8") as f:
        said = sorted({line.split(": ", 1)[1].strip() for line in f if "lift:" in line})
    return np.load(results), json.loads(explained.stdout), said


def ulp(a, b):
    if a.tobytes() == b.tobytes():
        return 0
    if a.dtype != np.float32:
        return -1
    x, y = (v.view(np.int32).astype(np.int64) for v in (a, b))
    x, y = (np.where(v < 0, -(v & 0x7FFFFFFF), v) for v in (x, y))
    return int(np.abs(x - y).max())


def table(name):
    plain, _, _ = run(name, "plain")
    lifted, explained, said = run(name, "lifted", "--lift")
    served = {}
    for r in explained["recompiles"]:
        served.setdefault(r["function"], []).append(r["served"])
    groups = {}
    for key in plain.files:
        groups.setdefault(key.split(".")[0], []).append(key)
    for group, keys in groups.items():
        if group.startswith("time"):
            continue
        far = [ulp(plain[k], lifted[k]) for k in keys]
        print(f"{name:12} {group:16} {sum(f == 0 for f in far)}/{len(far)} bit-equal, at most {max(far)} ulp"
              f"   served {({w: served.get(group, []).count(w) for w in ('compiled', 'lifted')})}")
    for kind, data in (("plain", plain), ("lifted", lifted)):
        if "time" in data.files:
            times = data["time"]
            print(f"{name:12} {kind}: first call of a value, median {statistics.median(times[3:]) * 1e3:.1f} ms")
    print("\n".join("  " + line for line in said))
    print(f"  {explained.get('lifted')}")


def main():
    os.makedirs(OUT, exist_ok=True)
    for name in SCRIPTS:
        table(name)


if __name__ == "__main__":
    main()
