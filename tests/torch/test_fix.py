"""Prevention without an edit: `stet run --torch-fix` learns from one run and helps the next. Outputs stay
what they were, compiles go down as expected, and what does not help is dropped.

usage: test_fix.py BUILD_DIR PYTHON [NAME…]
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TRAPS = HERE.parent.parent / "examples" / "traps" / "torch"

# script, runs with --torch-fix after the first run, compiles before and after
CASES = [
    (TRAPS / "combined.py", 1, 6, 1),
    (TRAPS / "shape-drift.py", 1, 2, 1),
    (TRAPS / "zero-one-specialisation.py", 1, 3, 1),
    (TRAPS / "python-counter.py", 1, 5, 1),
    (TRAPS / "global-value.py", 1, 4, 1),
    (TRAPS / "object-attribute.py", 1, 3, 1),
    (TRAPS / "closure-value.py", 1, 2, 1),
    (TRAPS / "baked-constant.py", 2, 2, 1),  # the first run with it writes the profile
    (TRAPS / "host-sync.py", 1, 3, 1),
    (HERE / "collision.py", 1, 3, 3),  # dropped, and said so
]


def run(build, python, script, state, fix):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_"))}
    env.update(STET_STATE_DIR=str(state), TORCH_DEVICE_BACKEND_AUTOLOAD="0", PYTHONWARNINGS="ignore",
               TORCHINDUCTOR_CACHE_DIR=str(state / "inductor"))
    command = [build / "bin" / "stet", "run", *(["--torch-fix"] if fix else []), "--", python, script]
    done = subprocess.run(command, cwd=state, env=env, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    newest = max((state / "runs").iterdir())
    told = subprocess.run([build / "bin" / "stet", "torch", "ingest", "--format=json", newest], env=env,
                          capture_output=True, timeout=60)
    compiles = json.loads(told.stdout)["input"]["compiles"] if told.returncode == 0 else 0
    return compiles, done.stdout.decode(), done.stderr.decode(), newest


def check(build, python, case):
    script, fixes, before, after = case
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:
        state = pathlib.Path(temporary)
        first, output, _, _ = run(build, python, script, state, False)
        for _ in range(fixes):
            time.sleep(1.1)  # runs are ordered by the second
            last, again, words, folder = run(build, python, script, state, True)
        if (first, last) != (before, after):
            wrong.append(f"{first} -> {last} compiles, not {before} -> {after}\n{words}")
        if output != again:
            wrong.append("the output changed")
        if script.stem == "collision":
            if "not set TORCH_COMPILE_DYNAMIC_SOURCES L['x']: another function" not in words:
                wrong.append("the collision was not told:\n" + words)
        elif f"{before} compiles \u2192 {after}" not in words:
            wrong.append("the count was not told:\n" + words)
        elif any(s["dropped"] and s["why"] != "it is unbacked instead"
                 for s in json.loads((folder / "torch-fix.json").read_text())["settings"]):
            wrong.append("something was dropped:\n" + words)
    return script.stem, f"{first} -> {last}", wrong


def main():
    build, python = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
    cases = [c for c in CASES if len(sys.argv) < 4 or c[0].stem in sys.argv[3:]]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, counts, wrong in pool.map(lambda c: check(build, python, c), cases):
            print(f"{'wrong' if wrong else 'right':6} {name:26} {counts}", flush=True)
            for w in wrong:
                print("      ", w)
            bad += bool(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
