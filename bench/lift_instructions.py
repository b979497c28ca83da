"""Counts the instructions of a training step (35 KB) on the CPU backend, plain and lifted, with valgrind. Counts do not depend on
what else the machine does. A step is the difference between a process that makes 1 and one that makes 5.

usage: lift_instructions.py      (after tools/bench.sh bench_lift, which makes the program)
"""
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = (1, 5)


def instructions(kind, steps):
    environment = dict(os.environ, BENCH_STEP=str(ROOT / "build" / "bench" / "program"), STET_CPU_THREADS="1",
                       STET_LIFT_BACKGROUND="off")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
                               ROOT / "build" / "release" / "bin" / "bench_lift", "step", kind, str(steps)],
                              env=environment, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main():
    step = {}
    for kind in ("plain", "lifted"):
        few, many = (instructions(kind, n) for n in STEPS)
        step[kind] = (many - few) / (STEPS[1] - STEPS[0])
        print(f"{kind:7} {step[kind]:14,.0f} instructions a step", flush=True)
    print(f"lifted: {100 * (step['lifted'] / step['plain'] - 1):+.3f} %")


if __name__ == "__main__":
    main()
