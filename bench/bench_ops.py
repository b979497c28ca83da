"""Single operations on the CPU backend beside XLA's in one process, under JAX (bench/operations.py has the list).

usage: bench_ops.py [--table] [--seconds S] [NAME…]

Prints a JSON object a line, as bench.h does, or a table, which also has the ratios of the fastest calls and of the
least processor time (of all threads): on a busy machine they say more. Both backends take turns, call by call; a call ends when its
result is ready. The last line is the geometric mean of the ratios. An operation whose result differs from XLA's by more
than its type allows ends the bench with an error.
"""
import argparse
import json
import math
import os
import statistics
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LIBRARY = os.path.join(ROOT, "build", "release", "lib", "libstet_cpu.so")
os.environ.update(JAX_PLATFORMS="stet,cpu", STET_CPU_LIBRARY=LIBRARY)
sys.path.insert(0, os.path.join(ROOT, "python"))

import jax
import numpy as np
import stet_cpu.jax

stet_cpu.jax.initialize()

from operations import OPERATIONS

LEAST, MOST = 7, 400  # turns
WRONG = dict(float32=1e-3, complex64=1e-3, bfloat16=2e-2)  # of the largest element
# Operations that may take more than twice XLA's time; docs/cpu.md gives the reasons.
SLOW = {}


def error(ours, theirs):
    """The largest difference, in parts of the largest element; for integers the share that differs."""
    worst = 0.0
    for x, y in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
        name = str(x.dtype)
        x, y = np.asarray(x), np.asarray(y)
        if name in WRONG:
            wide = np.complex128 if x.dtype.kind == "c" else np.float64
            x, y = x.astype(wide), y.astype(wide)
            part = float(np.max(np.abs(x - y)) / max(np.max(np.abs(y)), 1e-30))
        else:
            part = float(np.mean(x != y))
        if not part <= WRONG.get(name, 0):
            sys.exit(f"bench_ops: results differ by {part:g}")
        worst = max(worst, part)
    return worst


def measure(function, arguments, devices, seconds):
    """Milliseconds of each call on each device, and the difference of their results."""
    runs, results, took, used = {}, {}, {p: [] for p in devices}, {p: [] for p in devices}
    for p, device in devices.items():
        placed = [jax.device_put(a, device) for a in arguments]
        run = jax.jit(lambda *a: function(*a)).lower(*placed).compile()
        results[p] = jax.block_until_ready(run(*placed))
        runs[p] = run, placed
    end = time.perf_counter() + seconds
    while len(took["cpu"]) < LEAST or time.perf_counter() < end and len(took["cpu"]) < MOST:
        for p, (run, placed) in runs.items():
            start, cpu = time.perf_counter(), time.process_time()
            jax.block_until_ready(run(*placed))
            took[p].append((time.perf_counter() - start) * 1e3)
            used[p].append(time.process_time() - cpu)
    return took, used, error(results["stet"], results["cpu"])


def line(name, unit, values, against, baseline, limit):
    values = sorted(values)
    low, high = (values[min(len(values) - 1, int(len(values) * q))] for q in (0.1, 0.9))
    print(json.dumps(dict(bench=name, unit=unit, value=round(statistics.median(values), 4), p10=round(low, 4),
                          p90=round(high, 4), against=against, baseline=round(baseline, 4), limit=limit)), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.25, help="of turns of one operation")
    parser.add_argument("names", nargs="*", help="parts of names")
    options = parser.parse_args()
    devices = {p: jax.devices(p)[0] for p in ("stet", "cpu")}
    ratios = {}
    for name, function, arguments in OPERATIONS:
        if options.names and not any(part in name for part in options.names):
            continue
        took, used, wrong = measure(function, arguments, devices, options.seconds)
        ours, theirs = took["stet"], took["cpu"]
        a, b = statistics.median(ours), statistics.median(theirs)
        ratios[name] = a / b
        if options.table:
            least, cpu = min(ours) / min(theirs), min(used["stet"]) / min(used["cpu"])
            print(f"{name:26} {a:10.4f} ms  XLA {b:10.4f} ms  ratio {a / b:8.2f}  fastest {least:8.2f}  processor {cpu:8.2f}"
                  f"  error {wrong:.1e}", flush=True)
        else:
            limit = SLOW.get(name, 2)
            line(f"ops.{name}", "ms", ours, f"XLA:CPU; error {wrong:.1e}", b, limit and round(limit * b, 4))
    mean = math.exp(statistics.mean(math.log(r) for r in ratios.values()))
    if options.table:
        print("slowest:", ", ".join(f"{n} {r:.2f}" for n, r in sorted(ratios.items(), key=lambda x: -x[1])[:20]))
        print(f"geometric mean of {len(ratios)}: {mean:.3f}")
    else:
        line("ops.geometric-mean", "", [mean], f"XLA:CPU; the mean of {len(ratios)} ratios", 1, 1)


if __name__ == "__main__":
    main()
