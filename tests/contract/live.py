"""The gate at work in real frameworks, over `stet run --cpu`.

    live.py BUILD_DIR ENVIRONMENTS [--all] [PART…]

--all: also tries `warn` under PyTorch, where every run takes seconds to start. `fail` stops a JAX, a TorchTPU and a PyTorch/XLA program with an error that names clause, family, argument and
the contract's line; `warn` changes neither output nor exit code. Then: flags at launch, several ranks of one
job, torch.compile's own clauses, hand edits and what `contract update` makes of them.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "examples" / "traps"
BUILD, ENVS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).absolute()
STET = BUILD / "bin" / "stet"
ALL, PARTS = "--all" in sys.argv, [a for a in sys.argv[3:] if a != "--all"]
# script, environment, the edit that makes it good, family and what fail must say
FRAMEWORKS = [
    ("shape-drift", "jax", ("[9, 14, 11, 9, 17, 14, 20]", "[9] * 7"),
     "dims of train_step: dimension 1 of tokens is 48, allowed is 33"),
    ("torchtpu/shape-drift", "torchtpu", ("[4, 4, 6, 4, 7, 6]", "[4] * 6"), "dims of mixed: dimension 1 of arg0 is 18, allowed is 12"),
    ("torch_xla/shape-drift", "torchxla", ("[4, 4, 6, 5, 6, 8, 4]", "[4] * 7"), "dims of SyncTensorsGraph: dimension "),
]


AHEAD = """
import sys
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def predict(weights, x):
    return jnp.tanh(x @ weights).sum()

place = None
if sys.argv[1] == "tpu":
    from jax.experimental import topologies
    place = jax.sharding.SingleDeviceSharding(topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4").devices[0])
for rows in map(int, sys.argv[2:]):
    if place:
        predict.trace(*(jax.ShapeDtypeStruct(s, jnp.float32, sharding=place) for s in ((16, 16), (rows, 16)))).lower().compile()
    else:
        predict(np.ones((16, 16), np.float32), np.ones((rows, 16), np.float32))
"""


def environment(folder, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_", "PJRT_", "TPU_", "STET_", "RANK"))}
    env.update(STET_STATE_DIR=str(folder / "state"), STET_STORE="off", STET_CPU_THREADS="1", PYTHONWARNINGS="ignore",
               NO_COLOR="1")
    env.update(more)
    return env


def stet(folder, *words, code=0, fresh=True, **more):
    if fresh:  # TorchTPU keeps executables in it, and a loaded program is no compile
        more.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp(dir=folder))
    done = subprocess.run([STET, *words], cwd=folder, env=environment(folder, **more), capture_output=True, text=True, timeout=200)
    said = done.stdout + done.stderr
    assert code is None or done.returncode == code, f"stet {' '.join(map(str, words))}: exit {done.returncode}, not {code}\n{said[-2000:]}"
    return done


def run(folder, lane, script, *options, code=0, **more):
    return stet(folder, "run", "--cpu", *options, "--", ENVS / lane / "bin" / "python", script, code=code, **more)


def checked(folder, code):
    return json.loads(stet(folder, "check", "--format=json", code=code).stdout)


def scripts(folder, name, edit):
    source = (SCRIPTS / f"{name}.py").read_text()
    assert edit[0] in source
    (folder / "bad.py").write_text(source)
    (folder / "good.py").write_text(source.replace(*edit))


def frameworks(folder):
    for name, lane, edit, message in FRAMEWORKS:
        own = folder / lane
        own.mkdir()
        if PARTS and lane != "jax" and lane not in PARTS:
            continue
        scripts(own, name, edit)
        run(own, lane, "good.py", "--quiet")
        stet(own, "contract", "init")
        assert "keeps stet.contract" in stet(own, "check").stdout
        if lane == "jax" or ALL:
            bare = run(own, lane, "bad.py", "--quiet")
            warned = run(own, lane, "bad.py", "--contract=stet.contract")
            assert warned.stdout == bare.stdout, f"{lane}: warn changed the output"
            assert message in warned.stderr, warned.stderr[-2000:]
        failed = run(own, lane, "bad.py", "--contract=stet.contract", "--on-breach=fail", code=None)
        assert failed.returncode not in (0, 2, 3), (lane, failed.returncode, failed.stderr[-2000:])
        assert f"this compile breaks the contract: {message}" in failed.stderr, failed.stderr[-3000:]
        assert "stet.contract:" in failed.stderr and "Error" in failed.stderr
        verdict = checked(own, 1)
        assert [v["clause"] for v in verdict["violations"]] == ["dims"], verdict
        print(f"{lane}: fail stops it, warn leaves it alone")


def flags(folder):
    own = folder / "jax"
    text = (own / "stet.contract").read_text()
    assert "flags XLA_FLAGS unset" in text
    wanted = text.replace("flags XLA_FLAGS unset", 'flags XLA_FLAGS "--xla_cpu_enable_fast_math=false"')
    (own / "flags.contract").write_text(wanted)
    (own / "env.py").write_text("import os; print(os.environ.get('XLA_FLAGS'), os.environ.get('JAX_DEBUG_NANS'))")
    stet_run = lambda *words, code=0, **env: stet(own, "run", "--contract=flags.contract", *words, "--", sys.executable, "env.py", code=code, **env)
    done = stet_run()
    assert done.stdout.startswith("--xla_cpu_enable_fast_math=false"), done.stdout
    assert "set XLA_FLAGS=" in done.stderr
    done = stet_run(XLA_FLAGS="--xla_other", TF_XLA_FLAGS="--tf_x", JAX_DEBUG_NANS="1")
    assert done.stdout == "--xla_other 1\n", done.stdout
    for said in ("breach: flags: XLA_FLAGS is", "inherited TF_XLA_FLAGS", "debugging switch left on: JAX_DEBUG_NANS=1"):
        assert said in done.stderr, done.stderr
    done = stet_run("--on-breach=fail", code=1, XLA_FLAGS="--xla_other")
    assert not done.stdout and "not started" in done.stderr
    print("flags: set, verified, strangers and switches named")


def stored(folder):
    """The gate reads programs for the store, too: keys are the same with and without a contract."""
    own, store = folder / "jax", str(folder / "store")
    run(own, "jax", "good.py", "--quiet", STET_STORE=store)
    done = run(own, "jax", "good.py", "--contract=stet.contract", "--on-breach=fail", STET_STORE=store)
    served = re.search(r"(\d+) compiles? .*, (\d+) from disk", done.stderr)
    assert served and served[1] == served[2], done.stderr
    print("stored: a run with a contract is served what one without kept")


def target(folder):
    """A contract made on the CPU backend holds for what the TPU's own compiler is given, ahead of time."""
    own = folder / "target"
    own.mkdir()
    (own / "ahead.py").write_text(AHEAD)
    tpu = dict(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v6e-8", TPU_WORKER_HOSTNAMES="localhost",
               ALLOW_MULTIPLE_LIBTPU_LOAD="1")
    command = ["--", ENVS / "jax" / "bin" / "python", "ahead.py"]
    stet(own, "run", "--quiet", "--cpu", *command, "cpu", "8")
    stet(own, "contract", "init")
    assert "made on cpu backend" in (own / "stet.contract").read_text()
    stet(own, "run", "--quiet", *command, "tpu", "8", **tpu)
    said = stet(own, "check").stdout
    assert "made on the CPU backend, and this run is elsewhere: bundle, donated, layout and calls are not checked" in said, said
    done = stet(own, "run", "--contract=stet.contract", "--on-breach=fail", *command, "tpu", "8", "24", code=1, **tpu)
    assert "this compile breaks the contract: dims of predict: dimension 0 of x is 24, allowed is 8" in done.stderr, done.stderr[-2000:]
    print("target: a contract of the CPU backend holds, and stops, what is compiled for a TPU")


def ranks(folder):
    own = folder / "jax"
    python = ENVS / "jax" / "bin" / "python"
    both = f"RANK=0 WORLD_SIZE=2 {python} good.py & RANK=1 WORLD_SIZE=2 {python} bad.py; wait"
    stet(own, "run", "--quiet", "--cpu", "--", "sh", "-c", both)
    verdict = checked(own, 1)
    assert [(v["clause"], v["rank"]) for v in verdict["violations"]] == [("dims", 1)], verdict
    print("ranks: the one that drifts is named")


def updates(folder):
    own = folder / "jax"
    run(own, "jax", "bad.py", "--quiet")
    text = (own / "stet.contract").read_text().replace("\ntrain_step", "\n# our step\ntrain_step")
    (own / "stet.contract").write_text(text)
    shown = stet(own, "contract", "update", code=1).stdout
    assert "-    tokens: int32[6, 33]," in shown and "+    tokens: int32[6, {33,39,48,57,66}]," in shown, shown
    assert "why: dimension 1 of tokens is 48, allowed is 33 (shape-drift, bad.py:18)" in shown, shown
    assert (own / "stet.contract").read_text() == text
    stet(own, "contract", "update", "--write")
    assert "# our step" in (own / "stet.contract").read_text()
    assert checked(own, 0)["ok"]
    (own / "broken.contract").write_text(text.replace("int32[6, 33]", "int32[6, many]"))
    done = stet(own, "check", "--contract=broken.contract", code=2)
    line = 1 + text[: text.index("int32[6, 33]")].count("\n")
    assert f"broken.contract:{line}:22: a number is missing here" in done.stderr, done.stderr
    print("update: shown with its reason, written with --write; errors have line and column")


def waiting(folder):
    """No run waits a day, and none less than a millisecond: the machine's speed decides nothing."""
    own = folder / "waiting"
    own.mkdir()
    scripts(own, "shape-drift", ("[9, 14, 11, 9, 17, 14, 20]", "[9] * 7"))
    run(own, "jax", "good.py", "--quiet")
    stet(own, "contract", "init")
    text = (own / "stet.contract").read_text()
    budgets = lambda one, all: text.replace("compiled once\n", f"compiled once, waited at most {one}\n", 1).replace(
        "made on", f"waited at most {all}\nmade on")
    (own / "stet.contract").write_text(budgets("86400 s", "86400 s"))
    done = run(own, "jax", "good.py", "--contract=stet.contract", "--on-breach=fail")
    assert "breach" not in done.stderr and checked(own, 0)["ok"], done.stderr
    (own / "stet.contract").write_text(budgets("1 ms", "2 ms"))
    violations = checked(own, 1)["violations"]
    assert [(v["clause"], v["family"], v["class"]) for v in violations] == [("waited", "train_step", None), ("waited", None, None)], violations
    assert violations[0]["message"].endswith("waited for 1 compile; at most 1 ms is allowed"), violations
    assert violations[0]["origin"]["file"].endswith("good.py"), violations
    done = run(own, "jax", "good.py", "--contract=stet.contract")
    assert "stet: breach: waited of train_step: " in done.stderr and "stet: breach: waited: " in done.stderr, done.stderr
    run(own, "jax", "good.py", "--quiet", "--contract=stet.contract", "--on-breach=fail", code=1)
    shown = stet(own, "contract", "update", "--write", code=None).stdout
    assert re.search(r"^\+\) at most .*, waited at most \d+ s$", shown, re.M) and re.search(r"^\+waited at most \d+ s$", shown, re.M), shown
    assert checked(own, 0)["ok"]
    print("waiting: budgets of a family and of the run, live, checked and updated")


def torch(folder):
    """The three in one process, so that torch is imported twice instead of six times."""
    cases = {
        "shape-drift": ("(4, 6, 8)", "(4, 4, 4)", "programs"),
        "graph-break": ('print("half way")', "pass", "graph-breaks"),
        "recompile-limit": ("range(10)", "range(8)", "limit"),
    }
    own = folder / "torch"
    own.mkdir()
    run_all = ["run", "--quiet", "--", ENVS / "torchtpu" / "bin" / "python", ROOT / "tests" / "torch" / "all.py",
               *(f"{name}.py" for name in cases)]
    for name, (bad, good, _) in cases.items():
        source = (SCRIPTS / "torch" / f"{name}.py").read_text()
        assert bad in source
        (own / f"{name}.py").write_text(source.replace(bad, good))
    assert "!! failed" not in stet(own, *run_all).stderr
    stet(own, "contract", "init")
    assert checked(own, 0)["ok"]
    for name in cases:  # frames are known by their file
        (own / f"{name}.py").write_text((SCRIPTS / "torch" / f"{name}.py").read_text())
    assert "!! failed" not in stet(own, *run_all).stderr
    verdict = checked(own, 1)
    found = sorted((pathlib.Path(v["origin"]["file"]).stem, v["clause"]) for v in verdict["violations"])
    assert found == sorted((name, clause) for name, (_, _, clause) in cases.items()), verdict
    print("torch.compile: programs a frame, graph breaks, the limit")


with tempfile.TemporaryDirectory(prefix="stet-live-") as scratch:
    scratch = pathlib.Path(scratch)
    for part in (frameworks, flags, stored, target, ranks, updates, waiting, torch):
        if not PARTS or part is frameworks or part.__name__ in PARTS:  # all need what the first makes
            part(scratch)
