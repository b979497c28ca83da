"""Runs a script under `stet run --cpu` and asks `stet lint --run` what its findings cost there.

usage: run_join.py STET PYTHON
"""
import json
import os
import subprocess
import sys
import tempfile

SCRIPT = """\
import jax, jax.numpy as jnp
from functools import partial

@partial(jax.jit, static_argnames=("n",))
def step(x, n):
    y = x[n:n + 4]
    return y * 2.0

@jax.jit
def other(x):
    print(x)
    return x + 1

x = jnp.arange(64.0)
for i in range(4):
    step(x, n=i).block_until_ready()
other(x).block_until_ready()
"""


def joined(stet, python, script):
    """The findings in the script, with what its run says of them."""
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, STET_STATE_DIR=os.path.join(folder, "state"))
        with open(os.path.join(folder, "train.py"), "w") as f:
            f.write(script)
        subprocess.run([stet, "run", "--cpu", "--", python, "train.py"], cwd=folder, env=env, check=True,
                       stdout=subprocess.DEVNULL, timeout=100)
        done = subprocess.run([stet, "lint", "--no-cache", "--run=latest", "--format=json", "train.py"],
                              cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    print(done.stdout, done.stderr)
    return json.loads(done.stdout)["findings"]


def main():
    stet, python = (os.path.abspath(p) for p in sys.argv[1:])
    findings = joined(stet, python, SCRIPT)
    found = {f["code"]: f for f in findings}
    order = [f["cost_s"] for f in findings]
    assert found["slice-start"]["compiles"] == 3 and found["slice-start"]["cost_s"] > 0
    # line 16 triggered these, and the starts that moved are its static argument's
    assert found["static-argument"]["compiles"] == 3
    assert found["traced-print"]["compiles"] == 0 and found["traced-print"]["cost_s"] == 0
    assert order == sorted(order, reverse=True)
    # one call compiled for its static arguments and for short last batches: the latter are not theirs
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/train.py")) as f:
        findings = joined(stet, python, f.read())
    static = [f for f in findings if f["code"] == "static-argument"]
    assert static and all(f["compiles"] == 3 for f in static)
    return 0


if __name__ == "__main__":
    sys.exit(main())
