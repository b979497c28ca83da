"""On a machine with an NVIDIA GPU: what `stet fit` says about a training script against what the device measures.

usage: fit.py BUILD_DIR OUT_DIR TARGET     BUILD_DIR has bin/stet, lib/libstet.so, lib/libstet_plugin.so and
                                           lib/libstet_cpu.so; TARGET is the device, a GpuTargetConfigProto as text

For each batch, `fit_train.py` is fitted in processes that see no device, and then runs on it. Prints both peaks and
the error, and writes OUT_DIR/fit.json; the goal is 10 %. Then a batch that cannot fit runs, and its explanation is
printed. Exits 1 when an error is larger, when a verdict is wrong, or when the failed run is not explained with its program.
"""

import json
import os
import subprocess
import sys

BUILD, OUT, TARGET = (os.path.abspath(p) for p in sys.argv[1:4])
HERE = os.path.dirname(os.path.abspath(__file__))
STET = os.path.join(BUILD, "bin", "stet")
TRAIN = [sys.executable, os.path.join(HERE, "fit_train.py")]
GOAL = 0.10
ENV = dict(
    os.environ,
    # Triton's matrix products can't be compiled without the device: XLA chooses among them by timing
    XLA_FLAGS="--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false",
    XLA_PYTHON_CLIENT_PREALLOCATE="false",
    STET_STATE_DIR=os.path.join(OUT, "state"),
    STET_STORE=os.path.join(OUT, "store"),
    TF_CPP_MIN_LOG_LEVEL="3",
)


def plugin():
    code = "import jax_plugins.xla_cuda13 as p, os; print(os.path.join(os.path.dirname(p.__file__), 'xla_cuda_plugin.so'))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def fit(batch):
    out = subprocess.run([STET, "fit", "--format=json", "--topology=1x1x1", "--target", TARGET, "--plugin", plugin(), "--zeros",
                          "--", *TRAIN, "--batch", str(batch)], env=dict(ENV, CUDA_VISIBLE_DEVICES="-1"),
                         capture_output=True, text=True)
    if out.returncode not in (0, 1):
        sys.exit(f"stet fit: exit {out.returncode}\n{out.stderr}")
    return json.loads(out.stdout)


def train(batch, *stet):
    return subprocess.run([*stet, *TRAIN, "--batch", str(batch)], env=ENV, capture_output=True, text=True)


def main():
    os.makedirs(OUT, exist_ok=True)
    rows, fine = [], True
    print(f"{'batch':>8}{'fit':>12}{'measured':>12}{'error':>9}")
    for batch in (16, 64, 256):
        verdict, ran = fit(batch), train(batch)
        if ran.returncode:
            sys.exit(f"fit_train.py --batch {batch}: exit {ran.returncode}\n{ran.stderr[-2000:]}")
        measured = json.loads(ran.stdout.splitlines()[-1])["peak"]
        error = verdict["peak_bytes"] / measured - 1
        fine &= verdict["verdict"] == "fits" and abs(error) <= GOAL
        rows.append({"batch": batch, "fit": verdict["peak_bytes"], "measured": measured, "error": error})
        print(f"{batch:8}{verdict['peak_bytes'] >> 20:9} MiB{measured >> 20:9} MiB{error:8.1%}")
    batch = 1 << 17
    verdict, ran = fit(batch), train(batch, STET, "run", "--")
    told = subprocess.run([STET, "explain", "--format=json"], env=ENV, capture_output=True, text=True)
    print(f"batch {batch}: fit says {verdict['verdict']}, the run ends with {ran.returncode}; its summary:")
    print("\n".join(line for line in ran.stderr.splitlines() if line.startswith("stet")))
    explained = any("out of memory in jit_step" in line for line in ran.stderr.splitlines() if line.startswith("stet"))
    fine &= verdict["verdict"] == "exceeds" and ran.returncode != 0 and explained
    with open(os.path.join(OUT, "fit.json"), "w") as f:
        json.dump({"rows": rows, "exceeds": verdict["exceeds_bytes"], "explained": told.stdout}, f, indent=1)
    sys.exit(not fine)


if __name__ == "__main__":
    main()
