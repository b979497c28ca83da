"""Single operations on the CPU backend beside XLA's, under JAX (bench/operations.py has the list).

usage: bench_ops.py [--table] [--seconds S] [NAME…]

Prints a JSON object a line, as bench.h does, or a table, which also has the ratios of the fastest calls and of the
least processor time (of all threads): on a busy machine they say more. Each backend is JAX's platform `cpu` in a process
of its own, as it is under `stet run --cpu`. They take turns, call by call; a call ends when its result is ready. The last
line is the geometric mean of the ratios. An operation whose result differs from XLA's by more than its type allows ends
the bench with an error.
"""
import argparse
import json
import math
import os
import pickle
import statistics
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LIBRARY = os.path.join(ROOT, "build", "release", "lib", "libstet_cpu.so")
STET = dict(JAX_PLATFORMS="stet,cpu", STET_JAX_AS="cpu", STET_CPU_LIBRARY=LIBRARY,
            PJRT_NAMES_AND_LIBRARY_PATHS="stet:" + LIBRARY)  # as stet run --cpu
SIDES = dict(stet=STET, xla=dict(JAX_PLATFORMS="cpu"))
# Both sides call the same LAPACK, whose threads spin while they wait for each other: with them a call takes 0.5 ms or 60.
ALONE = dict(OPENBLAS_NUM_THREADS="1")
LEAST, MOST = 7, 400  # turns
WRONG = dict(float32=1e-3, complex64=1e-3, bfloat16=2e-2)  # of the largest element


def serve(side):
    """Does what is asked on standard input: compile an operation, and call it."""
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if side == "stet":
        sys.path.insert(0, os.path.join(ROOT, "python"))
        import stet_cpu.jax
        stet_cpu.jax.initialize()
    import jax
    import numpy as np
    from operations import OPERATIONS

    operations = {name: (function, arguments) for name, function, arguments in OPERATIONS}

    def answer(value):
        pickle.dump(value, answers)
        answers.flush()

    answer((jax.devices()[0].client.platform_version, list(operations)))
    while True:
        try:
            name = pickle.load(asked)
        except EOFError:
            return
        if name is not None:
            function, arguments = operations[name]
            placed = [jax.device_put(a) for a in arguments]
            run = jax.jit(lambda *a: function(*a)).lower(*placed).compile()
            result = jax.tree.leaves(jax.block_until_ready(run(*placed)))
            answer([(str(x.dtype), np.asarray(x).astype(np.float32 if x.dtype == "bfloat16" else x.dtype)) for x in result])
            continue
        start, cpu = time.perf_counter(), time.process_time()
        jax.block_until_ready(run(*placed))
        answer(((time.perf_counter() - start) * 1e3, time.process_time() - cpu))


class Side:
    def __init__(self, name):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("STET_", "JAX_", "PJRT_"))}
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--serve", name], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment | ALONE | SIDES[name])
        self.version, self.names = pickle.load(self.process.stdout)

    def ask(self, name=None):
        pickle.dump(name, self.process.stdin)
        self.process.stdin.flush()
        return pickle.load(self.process.stdout)


def error(ours, theirs):
    """The largest difference, in parts of the largest element; for integers the share that differs."""
    import numpy as np

    worst = 0.0
    for (name, x), (_, y) in zip(ours, theirs, strict=True):
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


def measure(name, sides, seconds):
    """Milliseconds and processor seconds of each call on each side, and the difference of their results."""
    results = {s: side.ask(name) for s, side in sides.items()}
    took, used = ({s: [] for s in sides} for _ in range(2))
    end = time.perf_counter() + seconds
    while len(took["xla"]) < LEAST or time.perf_counter() < end and len(took["xla"]) < MOST:
        for s, side in sides.items():
            wall, cpu = side.ask()
            took[s].append(wall)
            used[s].append(cpu)
    return took, used, error(results["stet"], results["xla"])


def line(name, unit, values, against, baseline, limit):
    values = sorted(values)
    low, high = (values[min(len(values) - 1, int(len(values) * q))] for q in (0.1, 0.9))
    print(json.dumps(dict(bench=name, unit=unit, value=round(statistics.median(values), 4), p10=round(low, 4),
                          p90=round(high, 4), against=against, baseline=round(baseline, 4), limit=limit)), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.25, help="of turns of one operation")
    parser.add_argument("names", nargs="*", help="parts of names")
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    sides = {name: Side(name) for name in SIDES}
    if "stet" not in sides["stet"].version or "stet" in sides["xla"].version:
        sys.exit(f"bench_ops: the sides run on {sides['stet'].version} and {sides['xla'].version}")
    ratios, fastest = {}, {}
    for name in sides["xla"].names:
        if options.names and not any(part in name for part in options.names):
            continue
        took, used, wrong = measure(name, sides, options.seconds)
        ours, theirs = took["stet"], took["xla"]
        a, b = statistics.median(ours), statistics.median(theirs)
        ratios[name], fastest[name] = a / b, min(ours) / min(theirs)
        if options.table:
            cpu = min(used["stet"]) / max(min(used["xla"]), 1e-9)
            print(f"{name:26} {a:10.4f} ms  XLA {b:10.4f} ms  ratio {a / b:8.2f}  fastest {fastest[name]:8.2f}"
                  f"  processor {cpu:8.2f}  error {wrong:.1e}", flush=True)
        else:
            line(f"ops.{name}", "ms", ours, f"XLA:CPU; error {wrong:.1e}", b, round(2 * b, 4))
    mean, least = (math.exp(statistics.mean(map(math.log, r.values()))) for r in (ratios, fastest))
    if options.table:
        print("slowest:", ", ".join(f"{n} {r:.2f}" for n, r in sorted(fastest.items(), key=lambda x: -x[1])[:25]))
        print(f"geometric mean of {len(ratios)}: {mean:.3f}, of the fastest calls {least:.3f}")
    else:
        line("ops.geometric-mean", "", [mean], f"XLA:CPU; the mean of {len(ratios)} ratios", 1, 1)


if __name__ == "__main__":
    main()
