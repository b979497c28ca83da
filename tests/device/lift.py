"""On a machine with an accelerator: JAX with and without --lift, on the functions of tests/lift and on
a transformer whose learning rate changes in every step.

usage: lift.py BUILD_DIR OUT_DIR [cases] [transformer] [shapes]     BUILD_DIR has bin/stet and lib/libstet.so

`cases` prints a row of each function: the compiles of 50 values without and with --lift, of 50 more in a second run with
--lift and the first one's store, and how many results are equal bit by bit; its runs share the machine. `transformer`
prints the median time of a first call, of runs one after the other. `shapes` has a short batch every fourth step, and prints
how long its second learning rate waits: plain, lifted, and lifted without compiles in the background. The exit code is 1 if a
drifting value made more than two compiles, or more than one in the second run."""

import concurrent.futures
import os
import pathlib
import statistics
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lift"))

from lifted_results import numerics, run, table

BUILD, OUT = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
CASES = [sys.executable, HERE.parent / "lift" / "cases.py"]
TRANSFORMER = [sys.executable, HERE / "lift_train.py"]
NEVER = {"callback", "shape"}
VALUES = int(os.environ.get("VALUES", 50))
DETERMINISTIC = {"XLA_FLAGS": "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0",
                 "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "3"}


def start(command, name, *options, **variables):
    return run(BUILD, command, OUT, name, "--quiet", *options, **DETERMINISTIC, **variables)


def lifted_twice():
    store = {"STET_STORE": OUT / "store"}
    first = start(CASES, "lifted", "--lift", VALUES=VALUES, **store)
    return first, start(CASES, "again", "--lift", VALUES=VALUES, FIRST_VALUE=VALUES, **store)


def say(log):
    print("\n".join("  " + line for line in sorted({
        line.split(": ", 1)[1].strip() for line in log.splitlines() if "lift:" in line})))


def cases():
    """Whether each function that can be lifted made two compiles at most, and one at most in the second run."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        plain = pool.submit(start, CASES, "plain", "--no-store", VALUES=VALUES)
        plain_again = pool.submit(start, CASES, "plain-again", "--no-store", VALUES=VALUES, FIRST_VALUE=VALUES)
        lifted, again = lifted_twice()
        plain, plain_again = plain.result(), plain_again.result()
    rows = {}
    for second, a, b in (("", plain, lifted), (" (second run)", plain_again, again)):
        for name, row in numerics(sys.executable, a.results, b.results).items():
            rows[name + second] = (a.served[name], b.served[name], None if second else again.served[name], row)
    table(f"JAX, {VALUES} values twice", rows)
    say(lifted.log + again.log)
    return all(lifted.served[name]["compiled"] <= 2 and again.served[name]["compiled"] <= 1
               for name in rows if name in plain.served and name not in NEVER)


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
    chosen = sys.argv[3:] or ["cases", "transformer", "shapes"]
    sys.exit(not all([part() for part in (cases, transformer, shapes) if part.__name__ in chosen]))


if __name__ == "__main__":
    main()
