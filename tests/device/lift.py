"""On a machine with an accelerator: JAX with and without --lift, on the functions of tests/lift, on a transformer whose
learning rate changes in every step, and what lifting costs.

usage: lift.py BUILD_DIR OUT_DIR [--cpu] [cases] [cost] [transformer] [shapes]     BUILD_DIR has bin/stet and lib/libstet.so

`cases` prints a row of each function: the compiles of 50 values without and with --lift, of 50 more in a second run with
--lift and the first one's store, and how many results are equal bit by bit; its runs share the machine. `cost` runs
bench/bench_lift.py with the plugin, and with the CPU backend. `transformer` prints the median time of a first call, of runs
one after the other. `shapes` has a short batch every fourth step, and prints how long its second learning rate waits: plain,
lifted, and lifted without compiles in the background. Without a word, `cases` and `cost` run: they are the figures of
docs/lift.md. --cpu uses the CPU backend, to try the script. The exit code is 1 if a drifting value made more than two
compiles, or more than one in the second run, if a result differs by more than 4 units in the last place, or if a limit of the
bench is exceeded."""

import collections
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lift"))

from lifted_results import numerics, run, table

BUILD, OUT = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
CPU = ["--cpu"] if "--cpu" in sys.argv else []
CASES = [sys.executable, HERE.parent / "lift" / "cases.py"]
TRANSFORMER = [sys.executable, HERE / "lift_train.py"]
NEVER = {"callback", "shape"}
LIMIT_ULP = 4
# The functions of cases.py in four parts, which run beside each other: compiling all of them plainly takes minutes.
PARTS = [["learning_rate", "counter", "temperature", "loss_scale", "position"],
         ["static_argument", "closed_over", "images", "rematerialized", "splat"],
         ["iota_start", "pad_start", "slice_start", "dynamic_slice_start", "mask", "loop"],
         ["donated", "dropout", "factored", "callback", "shape"]]
VALUES = int(os.environ.get("VALUES", 50))
DETERMINISTIC = {"XLA_FLAGS": "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0",
                 "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "3"}


def start(command, name, *options, **variables):
    return run(BUILD, command, OUT, name, "--quiet", *CPU, *options, **DETERMINISTIC, **variables)


def plainly(name, pool, **variables):
    """Runs of all functions without --lift, as one: the file of all results, and how the compiles were served."""
    # `stet run` appends the file of results to the command, so the names of functions come by the environment.
    parts = list(pool.map(lambda k: start(CASES, f"{name}-{k}", "--no-store", FUNCTIONS=" ".join(PARTS[k]), **variables),
                          range(len(PARTS))))
    results, served = {}, collections.defaultdict(collections.Counter)
    for part in parts:
        results.update(np.load(part.results))
        for function, how in part.served.items():
            served[function].update(how)
    np.savez(OUT / f"{name}.npz", **results)
    return OUT / f"{name}.npz", served


def lifted_twice():
    store = {"STET_STORE": OUT / "store"}
    first = start(CASES, "lifted", "--lift", VALUES=VALUES, **store)
    return first, start(CASES, "again", "--lift", VALUES=VALUES, FIRST_VALUE=VALUES, **store)


def say(log):
    print("\n".join("  " + line for line in sorted({
        line.split(": ", 1)[1].strip() for line in log.splitlines() if "lift:" in line})))


def cases():
    """Whether each function that can be lifted made two compiles at most, and one at most in the second run."""
    with concurrent.futures.ThreadPoolExecutor(2 * len(PARTS)) as pool, concurrent.futures.ThreadPoolExecutor(2) as both:
        plain = both.submit(plainly, "plain", pool, VALUES=VALUES)
        plain_again = both.submit(plainly, "plain-again", pool, VALUES=VALUES, FIRST_VALUE=VALUES)
        lifted, again = lifted_twice()
        (plain, served), (plain_again, served_again) = plain.result(), plain_again.result()
    rows = {}
    for second, a, how, b in (("", plain, served, lifted), (" (second run)", plain_again, served_again, again)):
        for name, row in numerics(sys.executable, a, b.results).items():
            rows[name + second] = (how[name], b.served[name], None if second else again.served[name], row)
    table(f"JAX, {VALUES} values twice", rows)
    print(f"{sum(row['results'] for *_, row in rows.values())} results, "
          f"{sum(len(row['different']) for *_, row in rows.values())} of them not bit-equal")
    say(lifted.log + again.log)
    return all(row["ulp"] is not None and row["ulp"] <= LIMIT_ULP for *_, row in rows.values()) and all(
        lifted.served[name]["compiled"] <= 2 and again.served[name]["compiled"] <= 1
        for name in rows if name in served and name not in NEVER)


def cost():
    """Whether no limit of the bench is exceeded, on the CPU backend and with the plugin."""
    fine = True
    for where, options in (("the CPU backend", []),) if CPU else (("the plugin", ["--plugin"]), ("the CPU backend", [])):
        done = subprocess.run([sys.executable, HERE.parent.parent / "bench" / "bench_lift.py", BUILD, *options],
                              capture_output=True, text=True, check=True)
        print(f"\n{where}: {done.stderr.strip().splitlines()[-1]}")
        for line in map(json.loads, done.stdout.splitlines()):
            over = line["limit"] is not None and line["value"] > line["limit"]
            fine &= not over
            print(f"  {line['bench']:22} {line['value']:8.3f} {line['unit']:2} ({line['p10']:.3f} to {line['p90']:.3f}), "
                  f"{line['against']}: {line['baseline']:.2f}, limit {line['limit']}{', EXCEEDED' if over else ''}")
    return fine


def transformer():
    plain = start(TRANSFORMER, "transformer", "--no-store")
    lifted = start(TRANSFORMER, "transformer-lifted", "--no-store", "--lift")
    found = numerics(sys.executable, plain.results, lifted.results)
    found.pop("time")
    table("transformer, 30 learning rates", {
        name: (plain.served["main"], lifted.served["main"], None, row) for name, row in found.items()})
    for kind, results in (("plain", plain.results), ("lifted", lifted.results)):
        times = np.load(results)["time"][3:]
        print(f"{kind}: first call of a value, median {statistics.median(times) * 1e3:.1f} ms")
    say(lifted.log)
    return True


def shapes():
    for kind, options, variables in (("plain", (), {}), ("lifted", ("--lift",), {}),
                                     ("nothing in the background", ("--lift",), {"STET_LIFT_BACKGROUND": "off"})):
        done = start(TRANSFORMER, "shapes-" + kind.split()[0], "--no-store", *options, STEPS=12, SHORT_EVERY=4, **variables)
        times = np.load(done.results)["time"]
        print(f"{kind}: the short batch's first call {times[3] * 1e3:.0f} ms, its second learning rate {times[7] * 1e3:.0f} ms, "
              f"its third {times[11] * 1e3:.0f} ms")
    return True


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    chosen = [word for word in sys.argv[3:] if word != "--cpu"] or ["cases", "cost"]
    fine = True
    for part in (cases, cost, transformer, shapes):
        if part.__name__ in chosen:
            begin = time.monotonic()
            fine &= part()
            print(f"{part.__name__}: {time.monotonic() - begin:.0f} s", flush=True)
    sys.exit(not fine)


if __name__ == "__main__":
    main()
