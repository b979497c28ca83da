"""docs/ci/graph-contract.yml, step by step as GitHub runs it: green as it is, red with a planted drift and an
annotation on its line, green after the fix.

    recipe.py BUILD_DIR PYTHON

Steps are taken from the file itself: each `run` goes through `bash -e` in the repository, a step after a
failure runs only with `if: failure()`. What `uses` others' actions, and the installation, is what this test's
own environment stands for.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).absolute()
GOOD, DRIFT = "[9] * 7", "[9, 14, 11, 9, 17, 14, 20]"


def steps():
    found = []
    for line in (ROOT / "docs" / "ci" / "graph-contract.yml").read_text().splitlines():
        item = re.match(r"      - (\w+): (.*)", line)
        more = re.match(r"        (\w+): (.*)", line)
        if item:
            found.append({item[1]: item[2]})
        elif more and found:
            found[-1][more[1]] = more[2]
    assert [s["name"] for s in found if "run" in s][0] == "Install"
    return [s for s in found if "run" in s and s["name"] != "Install"]


def job(repository, state):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_", "PJRT_", "TPU_", "STET_"))}
    env.update(PATH=f"{BUILD / 'bin'}:{PYTHON.parent}:{env['PATH']}", STET_STATE_DIR=str(state), STET_CPU_THREADS="1", CI="true")
    red, log = False, ""
    for step in steps():
        if red != (step.get("if") == "failure()"):
            continue
        done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=repository, env=env, capture_output=True, text=True, timeout=120)
        log += f"{step['name']}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        red |= done.returncode != 0
    return red, log


def plant(repository, old, new):
    script = repository / "train.py"
    text = script.read_text()
    assert old in text
    script.write_text(text.replace(old, new))


with tempfile.TemporaryDirectory(prefix="stet-recipe-") as scratch:
    repository, state = pathlib.Path(scratch) / "repository", pathlib.Path(scratch) / "state"
    repository.mkdir()
    (repository / "train.py").write_text((ROOT / "examples" / "traps" / "shape-drift.py").read_text())
    plant(repository, DRIFT, GOOD)
    env = dict(os.environ, STET_STATE_DIR=str(state))
    subprocess.run([BUILD / "bin" / "stet", "run", "--quiet", "--cpu", "--", PYTHON, "train.py"], cwd=repository, env=env, check=True,
                   capture_output=True, timeout=120)
    subprocess.run([BUILD / "bin" / "stet", "contract", "init"], cwd=repository, env=env, check=True, capture_output=True, timeout=60)
    contract = (repository / "stet.contract").read_text()
    assert not re.search("^bundle libstet_cpu.so ", contract, re.M), contract  # it differs between builds of one version
    assert re.search(r'^bundle "platform version of libstet_cpu.so" "stet cpu \d+\.', contract, re.M), contract
    minor = re.search(r'^bundle Python "3\.\d+"$', contract, re.M)[0]  # any patch release keeps it
    red, log = job(repository, state)
    assert not red, log
    (repository / "stet.contract").write_text(contract.replace(minor, 'bundle Python "3.1"'))
    red, log = job(repository, state)
    assert red and "the contract has 3.1" in log, log
    (repository / "stet.contract").write_text(contract)
    plant(repository, GOOD, DRIFT)
    red, log = job(repository, state)
    assert red, log
    assert "::error file=train.py,line=18,title=stet%3A dims of train_step::dimension 1 of tokens is 48, allowed is 33" in log, log
    assert "why: dimension 1 of tokens is 48" in log, log
    print(log)
    plant(repository, DRIFT, GOOD)
    red, log = job(repository, state)
    assert not red, log
    print("green, red with the drift, green after the fix")

# Operations outside any jitted function share one family; a function that is new is reported all the same.
EAGER = """
import jax, jax.numpy as jnp, sys

@jax.jit
def step(w, x):
    return w + x.sum()

@jax.jit
def other(w):
    return w * 2

n = int(sys.argv[1])
w = jnp.ones((3, n)) * 0.5
for i in range(4):
    w = step(w, jnp.full((n,), 2.0))
if n > 8:
    other(w)
"""
with tempfile.TemporaryDirectory(prefix="stet-helpers-") as scratch:
    folder = pathlib.Path(scratch)
    (folder / "train.py").write_text(EAGER)
    env = dict(os.environ, STET_STATE_DIR=str(folder / "state"), STET_CPU_THREADS="1", NO_COLOR="1")

    def stet(*words):
        return subprocess.run([BUILD / "bin" / "stet", *words], cwd=folder, env=env, capture_output=True, text=True, timeout=120)

    assert stet("run", "--quiet", "--cpu", "--", PYTHON, "train.py", "8").returncode == 0
    assert stet("contract", "init").returncode == 0
    families = re.findall(r"^([^\s(]+)\(.*", (folder / "stet.contract").read_text(), re.M)
    assert families == ["step", "*"], families
    assert len(re.findall(r"^\w+\(", stet("contract", "init", "--helpers", "-o", "-").stdout, re.M)) > 2
    assert stet("check").returncode == 0
    assert "waited at most" not in (folder / "stet.contract").read_text()
    asked = re.search(r"^waited at most (\d+) s$", stet("contract", "init", "--waited", "-o", "-").stdout, re.M)
    assert asked and int(asked[1]) >= 1, asked
    assert re.search(r"^waited at most 40 s$", stet("contract", "init", "--waited=40s", "-o", "-").stdout, re.M)
    assert stet("contract", "init", "--waited=soon", "-o", "-").returncode == 2
    assert stet("contract", "init", "--waited", "-o", "budget.contract").returncode == 0
    assert stet("check", "--contract=budget.contract").returncode == 0
    assert stet("contract", "init", "--waited=1ms", "-o", "tight.contract").returncode == 0
    assert "waited" in stet("check", "--contract=tight.contract").stdout
    assert stet("run", "--quiet", "--cpu", "--", PYTHON, "train.py", "16").returncode == 0
    found = json.loads(stet("check", "--format=json").stdout)["violations"]
    assert [(v["clause"], v["family"]) for v in found] == [("dims", "step"), ("family", "other")], found
    assert stet("contract", "update", "--write").returncode == 0
    assert stet("check").returncode == 0
