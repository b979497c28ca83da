"""Runs programs on XLA:CPU and through stet-eval, and compares.

differential.py STET_EVAL [--only TEXT] [--threads N] [--bench]: one line per failure, a summary, exit 1 when any failed.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"
if "--bench" not in sys.argv: # XLA's optimizer takes most of the time, and its arithmetic is the same without
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

from jax._src.lib import _jax
from jaxlib.mlir.dialects import stablehlo

# Of an element, or of the largest of its tensor where sums of large numbers leave a small one.
TOLERANCE = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 1e-5, "float64": 1e-12, "complex64": 1e-5, "complex128": 1e-12}


def program(f, args):
    """Lowered for XLA:CPU, and as a plugin gets it: portable, without the CPU client's own custom calls."""
    traced = jax.jit(f, keep_unused=True).trace(*args)
    lowered = traced.lower()
    text = str(traced.lower(lowering_platforms=("tpu",)).compiler_ir("stablehlo"))
    return lowered, _jax.mlir.serialize_portable_artifact(text, stablehlo.get_current_version())


def evaluate(tool, work, data, args, like, threads=1, repeat=1):
    paths = [os.path.join(work, n) for n in ("program", "in", "out")]
    with open(paths[0], "wb") as f:
        f.write(data)
    with open(paths[1], "wb") as f:
        for a in jax.tree.leaves(args):
            f.write(np.asarray(a).tobytes())
    r = subprocess.run([tool, *paths, "--threads", str(threads), "--repeat", str(repeat)], capture_output=True, text=True, timeout=300)
    if r.returncode:
        raise RuntimeError(f"exit {r.returncode}: {r.stderr.strip()[:300]}")
    with open(paths[2], "rb") as f:
        raw = f.read()
    out, at = [], 0
    for a in like:
        out.append(np.frombuffer(raw, a.dtype, a.size, at).reshape(a.shape))
        at += a.nbytes
    if at != len(raw):
        raise RuntimeError(f"{len(raw)} bytes of output, {at} expected")
    return out, json.loads(r.stdout)


def difference(want, got, loose=1.0):
    """Nothing, or what is wrong."""
    if want.dtype.kind in "biu" or want.dtype.name in ("int2", "uint2", "int4", "uint4"):
        bad = want.view(np.uint8) != got.view(np.uint8) if want.dtype.itemsize == 1 else want != got
    elif want.dtype.itemsize == 1:  # floats: exactly
        w, g = want.astype(np.float32), got.astype(np.float32)
        bad = (w != g) & ~(np.isnan(w) & np.isnan(g))
    else:
        tol = TOLERANCE[want.dtype.name] * loose
        with np.errstate(all="ignore"):
            w, g = (a if a.dtype.kind == "c" else a.astype(np.float64) for a in (want, got))
            scale = np.abs(w[np.isfinite(w)]).max(initial=1e-3)
            bad = ~np.isclose(g, w, rtol=tol, atol=tol * min(scale, 1e3), equal_nan=True)
        if want.dtype.kind == "c":
            bad &= ~(np.isnan(w) & np.isnan(g))
    if not bad.any():
        return None
    i = np.flatnonzero(bad)
    return f"{i.size} of {want.size} differ, first at {i[0]}: want {want.ravel()[i[0]]}, got {got.ravel()[i[0]]}"


def compare(tool, work, f, args, threads, loose=1.0):
    lowered, data = program(f, args)
    want = [np.asarray(a) for a in jax.tree.leaves(lowered.compile()(*args))]
    got, _ = evaluate(tool, work, data, args, want, threads)
    found = []
    for i, (w, g) in enumerate(zip(want, got)):
        d = difference(w, g, loose)
        if d:
            found.append(f"result {i} {w.dtype}{list(w.shape)}: {d}")
    return found


def nearness(tool, work, f, args, threads):
    """Where two f32 results differ, f64 says who is right: our error may not exceed XLA's by more than half."""
    lowered, data = program(f, args)
    theirs = [np.asarray(a) for a in jax.tree.leaves(lowered.compile()(*args))]
    ours, _ = evaluate(tool, work, data, args, theirs, threads)
    truth = [np.asarray(a) for a in jax.tree.leaves(jax.jit(f)(*(a.astype(np.float64) for a in args)))]
    found = []
    for i, (t, x, o) in enumerate(zip(truth, theirs, ours)):
        error = [np.sqrt(np.square(a - t).mean()) / np.abs(t).max() for a in (x, o)]
        if error[1] > 1.5 * error[0] + 1e-9:
            found.append(f"result {i}: rms error {error[1]:.1e}, XLA's {error[0]:.1e}")
    return found


def bits(tool, work, f, args, threads):
    """XLA's own formula, in its order: the results are the same, not only near."""
    lowered, data = program(f, args)
    want = np.asarray(lowered.compile()(*args))
    (got,), _ = evaluate(tool, work, data, args, [want], threads)
    i = np.flatnonzero((want != got) & ~(np.isnan(want) & np.isnan(got)))
    return [f"{i.size} of {want.size} differ, first at {i[0]}: want {want.ravel()[i[0]]}, got {got.ravel()[i[0]]}"] if i.size else []


def bits_cases():
    """Functions of f32 where XLA's results are numbers that are not subnormal, and products of few complex numbers."""
    x = np.concatenate([np.linspace(-86, 86, 20001), np.linspace(-2, 2, 20001), [0, -0.0, np.nan]]).astype(np.float32)
    yield "exp", jax.numpy.exp, (x,)
    yield "log", jax.numpy.log, (np.abs(x) + np.float32(1e-30),)
    yield "tanh", jax.numpy.tanh, (x,)
    yield "logistic", jax.lax.logistic, (x,)
    turn = np.exp(1j * np.arange(18)).reshape(3, 6)
    for real in (np.float32, np.float64):
        few = np.linspace(-4, 9, 12, dtype=real).reshape(4, 3)
        yield f"dot_{np.dtype(real)}_complex", lambda a, b: a.astype(b.dtype) @ b, (few, turn.astype(np.result_type(real, 1j)))


def train(tool, work, step, state, batch, threads, steps=8):
    """Losses of a few steps, each runtime on its own state."""
    lowered, data = program(step, (state, batch))
    compiled = lowered.compile()
    ours, theirs, found = state, state, []
    for i in range(steps):
        theirs, loss = compiled(theirs, batch)
        like = [np.asarray(a) for a in jax.tree.leaves((theirs, loss))]
        out, _ = evaluate(tool, work, data, (ours, batch), like, threads)
        ours, got = jax.tree.unflatten(jax.tree.structure((theirs, loss)), out)
        if not abs(float(got) - float(loss)) <= 2e-3 * max(1, abs(float(loss))):
            found.append(f"step {i}: loss {float(loss)} against {float(got)}")
    return found


def bench(tool, work, only):
    import models
    print(f"{'program':20} {'XLA compile':>12} {'stet plan':>10} {'factor':>8} {'XLA step':>10} {'stet step':>10} {'factor':>7}")
    for name, step, state, batch in models.MODELS:
        if only not in name:
            continue
        lowered, data = program(step, (state, batch))
        start = time.perf_counter()
        compiled = lowered.compile()
        compile_ms = (time.perf_counter() - start) * 1e3
        args = jax.device_put((state, batch))
        times = []
        for _ in range(30):
            start = time.perf_counter()
            out = jax.block_until_ready(compiled(*args))
            times.append((time.perf_counter() - start) * 1e3)
        like = [np.asarray(a) for a in jax.tree.leaves(out)]
        _, took = evaluate(tool, work, data, (state, batch), like, threads=0, repeat=30)
        plan, run, theirs = took["plan_ms"] + took["decode_ms"], took["run_ms"], sorted(times)[15]
        print(f"{name:20} {compile_ms:9.1f} ms {plan:7.2f} ms {compile_ms / plan:7.0f}x {theirs:7.2f} ms {run:7.2f} ms {run / theirs:6.2f}x")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tool")
    p.add_argument("--only", default="")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--bench", action="store_true")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        if o.bench:
            return bench(o.tool, work, o.only)
        import cases
        import models
        failed = ran = 0
        todo = [(n, lambda f=f, a=a, n=n: compare(o.tool, work, f, a, o.threads)) for n, f, a in cases.CASES]
        todo += [("train_" + n, lambda s=s, a=a, b=b: train(o.tool, work, s, a, b, o.threads)) for n, s, a, b in models.MODELS]
        todo += [("nearness_" + n, lambda f=f, a=a: nearness(o.tool, work, f, a, o.threads)) for n, f, a in cases.CASES
                 if n == "dot_big" or n.startswith("conv_grad")]
        todo += [("bits_" + n, lambda f=f, a=a: bits(o.tool, work, f, a, o.threads)) for n, f, a in bits_cases()]
        for name, run in todo:
            if o.only not in name:
                continue
            ran += 1
            try:
                found = run()
            except Exception as e:
                found = [f"{type(e).__name__}: {e}"]
            failed += bool(found)
            for line in found:
                print(f"FAILED {name}: {line}", flush=True)
        print(f"{ran} programs, {failed} failed")
        return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
