"""Counters of PyTorch/XLA and logs of JAX and PyTorch/XLA, beside the compiles of the same run.

usage: test_frameworks.py BUILD_DIR ENVIRONMENTS
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD, ENVS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).absolute()
STET = BUILD / "bin" / "stet"

TORCH_XLA = """\
import torch
import torch_xla


def main():
    device = torch_xla.device()
    for n in (4, 4, 6):
        x = torch.tanh(torch.ones(n, device=device)) * 2
        torch_xla.sync()
        print(float(x.sum()))
    z = torch.randn(5, 5, device=device)
    print(torch.linalg.eig(z)[0].shape)
    torch_xla.sync()


main()
"""

JAX = """\
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.tanh(x) * 2


def main():
    for n in (4, 4, 6, 8):
        step(jnp.ones(n))


main()
"""


def line_of(source, text):
    return next(n for n, line in enumerate(source.splitlines(), 1) if text in line)


def launch(folder, env, source, more, log):
    """Runs a script on the CPU backend with its standard error in a file; gives what explain says."""
    script = folder / "script.py"
    script.write_text(source)
    environment = dict(os.environ, STET_STATE_DIR=str(folder / "state"), **more)
    python = ENVS / env / "bin" / "python"
    with open(log, "a") as err:
        err.write("Finished tracing earlier for jit in 9.0 sec\n")  # of a run before this one
        err.flush()
        subprocess.run([STET, "run", "--cpu", "--", python, script], check=True, env=environment, stderr=err,
                       stdout=subprocess.DEVNULL, timeout=300, cwd=folder)
    text = subprocess.run([STET, "explain"], env=environment, capture_output=True, text=True, cwd=folder)
    told = subprocess.run([STET, "explain", "--format=json"], env=environment, capture_output=True, text=True, cwd=folder)
    assert told.returncode == 1, (told.returncode, told.stderr)
    return text.stdout, json.loads(told.stdout)


def test_torch_xla(folder):
    debug = folder / "graphs.log"
    text, told = launch(folder, "torchxla", TORCH_XLA,
                        {"PT_XLA_DEBUG_LEVEL": "2", "PT_XLA_DEBUG_FILE": str(debug)}, folder / "err.log")
    counters = {c["name"]: c for c in told["counters"]}
    assert counters["UncachedCompile"]["samples"] == told["compiles"], (counters, told["compiles"])
    assert counters["CompileTime"]["total"] > 0
    assert counters["TransferFromDeviceTime"]["samples"] >= 3
    eig = counters["aten::linalg_eig"]
    assert eig["samples"] == 1 and eig["line"] == line_of(TORCH_XLA, "linalg.eig"), eig
    assert counters["aten::_local_scalar_dense"]["line"] == line_of(TORCH_XLA, "float(")
    assert "without a lowering on the CPU: aten::linalg_eig 1× (script.py:%d)" % eig["line"] in text, text
    synced = [g for g in told["tracing"]["graphs"] if g["line"] == line_of(TORCH_XLA, "torch_xla.sync()")]
    assert synced and synced[0]["compilations"] == 2 and synced[0]["executions"] == 3, told["tracing"]


def test_jax(folder):
    text, told = launch(folder, "jax", JAX, {"JAX_LOG_COMPILES": "1", "JAX_EXPLAIN_CACHE_MISSES": "1"}, folder / "err.log")
    functions = {f["function"]: f for f in told["tracing"]["functions"]}
    assert functions["step"]["traces"] == 3 and functions["step"]["trace_s"] > 0, functions
    assert "earlier" not in functions, "what stood in the log before the run was counted"
    misses = [m for m in told["tracing"]["misses"] if m["function"] == "step"]
    assert len(misses) == 3 and {m["line"] for m in misses} == {line_of(JAX, "step(jnp")}, misses
    assert "jax says" in text and "now f32[6] and before f32[4]" in text, text


def test_torch_xla_in_process(folder):
    """Its own CPU client can't be intercepted: programs come from XLA's dumps, by themselves."""
    script = folder / "script.py"
    script.write_text(TORCH_XLA)
    environment = dict(os.environ, STET_STATE_DIR=str(folder / "state"), PJRT_DEVICE="CPU")
    environment.pop("XLA_FLAGS", None)
    subprocess.run([STET, "run", "--quiet", "--", ENVS / "torchxla" / "bin" / "python", script], check=True, env=environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, cwd=folder)
    told = subprocess.run([STET, "explain", "--format=json"], env=environment, capture_output=True, text=True, cwd=folder)
    told = json.loads(told.stdout)
    assert told["compiles"] >= 3, told
    assert any(r["class"] == "shape-drift" for r in told["recompiles"]), told["recompiles"]


for test in (test_jax, test_torch_xla, test_torch_xla_in_process):
    with tempfile.TemporaryDirectory() as name:
        test(pathlib.Path(name))
    print(f"{test.__name__}: fine")
