"""The same program in other words has the same cause: read-backs are observed, not spelled.

    python3 tests/traps/respelled.py BUILD_DIR [ENV_DIR] [--only NAME]

Each case is a trap of examples/traps with some lines written in another way, or a whole script. Those
that begin with "not" read values back beside their cause and must not be blamed on it.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BRANCH = ("value-branch-functions.py", "        if float(loss) > 30.0:\n            weights = restart(weights)")
FLAG = ("value-branch.py", "clip = bool(norm > 5.0)")
PRINT = ("host-sync-print.py", 'print("step", step, "spread", float(jnp.std(weights)))')
SIZE = ("dim-readback.py", "count = int(jnp.count_nonzero(scores > 0.5))")

HEAD = """import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return w * 0.9 + x.mean(), x.sum()


@jax.jit
def clip(w):
    return jnp.clip(w, -1.0, 1.0)


def main():
    w = jnp.ones(3)
    losses = []
    total = jnp.zeros((), jnp.int32)
"""
TAIL = """    print(losses)


main()
"""


def tabs(text):
    return "".join("\t" * ((len(line) - len(line.lstrip(" "))) // 4) + line.lstrip(" ") for line in text.splitlines(True))


def trap(at, new, before_main="", imports="", also=()):
    name, old = at
    text = (ROOT / "examples/traps" / name).read_text()
    edits = [(old, new), ("\ndef main():", "\n" + before_main + "\ndef main():"), ("import jax\n", imports + "import jax\n"), *also]
    for a, b in edits:
        assert a in text, (name, a)
        text = text.replace(a, b, 1)
    return text


def branch(condition, **more):
    return trap(BRANCH, f"        if {condition}:\n            weights = restart(weights)", **more)


WATCH = """
class Watch:
    def update(self, x):
        self.last = x.item()
        return self.last > 30.0

"""
BOX = """
class Box:
    def see(self, scores):
        self.count = int(jnp.count_nonzero(scores > 0.5))


box = Box()

"""
# name: (class, script, further files)
CASES = {
    # house rules: the eight
    "branch, tabs": ("value-branch", tabs(trap(BRANCH, BRANCH[1])), {}),
    "branch, no float": ("value-branch", branch("loss > 30.0"), {}),
    "branch, helper": ("value-branch", branch("too_big(loss)", before_main="\ndef too_big(x):\n    return x.item() > 30.0\n\n"), {}),
    "branch, numpy by another name": ("value-branch", branch("onumpy.asarray(loss) > 30.0", imports="import numpy as onumpy\n"), {}),
    "print, logging": ("host-sync", trap(PRINT, 'logging.warning("%s", jnp.std(weights))', imports="import logging\n\n"), {}),
    "size, helper": ("dim-readback", trap(SIZE, "count = found_in(scores)", before_main="\ndef found_in(s):\n    return int(jnp.count_nonzero(s > 0.5))\n\n"), {}),
    "size, sum of an array": ("dim-readback", trap(SIZE, "count = sum(np.array(scores) > 0.5)"), {}),
    "flag, tabs": ("value-branch", tabs(trap(FLAG, FLAG[1])), {}),
    # fresh ones
    "branch, walrus": ("value-branch", branch("(seen := loss.tolist()) > 30.0"), {}),
    "branch, by name": ("value-branch", trap(BRANCH, "        seen = jax.device_get(loss)\n        high = seen > 30.0\n        if high:\n            weights = restart(weights)"), {}),
    "branch, conditional expression": ("value-branch", trap(BRANCH, "        weights = restart(weights) if loss > 30.0 else weights"), {}),
    "branch, continue": ("value-branch", trap(BRANCH, "        if not loss > 30.0:\n            continue\n        weights = restart(weights)"), {}),
    "branch, else": ("value-branch", trap(BRANCH, "        if loss < 30.0:\n            pass\n        else:\n            weights = restart(weights)"), {}),
    "branch, method": ("value-branch", branch("watch.update(loss)", before_main=WATCH + "\nwatch = Watch()\n\n"), {}),
    "branch, another file": ("value-branch", branch("policy.diverged(loss)", imports="import policy\n"), {"policy.py": "def diverged(value):\n    return bool(value > 30.0)\n"}),
    "flag, item": ("value-branch", trap(FLAG, "clip = norm.item() > 5.0"), {}),
    "print, append": ("host-sync", trap(PRINT, "spreads.append(jnp.std(weights).item())", also=[("    for step in range(14):", "    spreads = []\n    for step in range(14):")]), {}),
    "size, comprehension": ("dim-readback", trap(SIZE, "kept = [s for s in np.asarray(scores) if s > 0.5]\n        count = len(kept)"), {}),
    "size, another file": ("dim-readback", trap(SIZE, "count = tally.found(scores)", imports="import tally\n"), {"tally.py": "def found(scores):\n    return (scores > 0.5).sum().item()\n"}),
    "size, field": ("dim-readback", trap(SIZE, "box.see(scores)", before_main=BOX, also=[("count=count)", "count=box.count)")]), {}),
    # read-backs that decide nothing
    "not: result read": ("shape-drift", HEAD + """    for n in (4, 5, 6, 7, 5, 4):
        w, loss = step(w, jnp.asarray(np.ones((n, 2), np.float32)))
        losses.append(float(loss))
""" + TAIL, {}),
    "not: result read in the call": ("shape-drift", HEAD + """    for part in np.array_split(np.ones((22, 2), np.float32), (4, 9, 15)):
        loss = float(step(w, part)[1])
        losses.append(loss)
""" + TAIL, {}),
    "not: integer read": ("shape-drift", HEAD + """    for n in (4, 5, 6, 7, 5, 4):
        total = total + 1
        seen = int(total)
        w, loss = step(w, jnp.asarray(np.ones((n, 2), np.float32)))
        losses.append(seen)
""" + TAIL, {}),
    "not: late by number": ("hidden-branch", HEAD + """    for i in range(9):
        w, loss = step(w, jnp.ones((4, 2)))
        seen = float(loss)
        if i == 6:
            w = clip(w)
        losses.append(seen)
""" + TAIL, {}),
}


def run(build, python, script, files, folder):
    (folder / "main.py").write_text(script)
    for name, text in files.items():
        (folder / name).write_text(text)
    state = str(folder / "state")
    env = dict({k: v for k, v in os.environ.items() if not k.startswith(("STET_", "JAX_", "XLA_", "PYTHON"))}, STET_STATE_DIR=state,
               STET_STORE=state + "/store", XDG_STATE_HOME=state, XDG_CACHE_HOME=state + "/cache", PYTHONDONTWRITEBYTECODE="1")
    ran = subprocess.run([str(build / "bin/stet"), "run", "--quiet", "--cpu", "--", str(python), "main.py"], cwd=folder, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    told = subprocess.run([str(build / "bin/stet"), "explain", "--format=json"], cwd=folder, env=env, capture_output=True, text=True)
    return json.loads(told.stdout)["recompiles"]


def wrong(want, told):
    """Why the answer is not right, or None. A late program may be harmless; other causes count."""
    found = [r for r in told if r["class"] == want]
    others = [r["class"] for r in told if not r["benign"] and r["class"] != want]
    if not found or others:
        return f"{want} expected, told {[r['class'] for r in told]}"
    if want != "hidden-branch" and all(r["benign"] for r in found):
        return "told as harmless"
    if want in ("value-branch", "dim-readback") and not all(r["source"] for r in found):
        return "no source"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("env", type=pathlib.Path, nargs="?", default=ROOT / "build/env")
    parser.add_argument("--only")
    args = parser.parse_args()
    failed = 0
    for name, (want, script, files) in CASES.items():
        if args.only and args.only not in name:
            continue
        with tempfile.TemporaryDirectory(prefix="stet-respelled-") as folder:
            told = run(args.build.resolve(), args.env.resolve() / "jax/bin/python", script, files, pathlib.Path(folder))
        why = wrong(want, told)
        sure = ", ".join(sorted({r["sure"] for r in told if r["class"] == want}))
        print(f"{'WRONG' if why else 'right'}  {name}: {why or want + ', ' + sure}", flush=True)
        failed += why is not None
    sys.exit(failed != 0)


main()
