"""CPU time of XLA's CPU compiler by the size of a program: the estimate that `stet test` prints.

usage: compile_cost.py RUN… [--most=N] [--seed=N]

RUN is the folder of a run that `stet test` recorded (`stet runs` lists them). Compiles a seeded sample of its programs
with XLA's CPU client, and prints for each run how many seconds of processor time that took, and what the estimate of
src/session/compiler_cost.c says. Run by a Python with JAX.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import numpy as np
from jax._src.lib import _jax

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
from stet_cpu.fallback import module_of


def estimate():
    """Milliseconds of a KiB of a program, as the C source has them."""
    return int(re.search(r"KIB_US = (\d+)", (ROOT / "src/session/compiler_cost.c").read_text()).group(1)) / 1e3


def compile_ms(client, code):
    code = module_of(code, "mlir")
    start = time.process_time()
    client.compile_and_load(code, _jax.DeviceList(tuple(client.devices()[:1])), _jax.CompileOptions())
    return (time.process_time() - start) * 1e3


def measure(client, folder, most, seed):
    """(KiB, ms) of each program that XLA can compile alone."""
    paths = sorted(folder.glob("programs/*.mlirbc.zst"))
    random.Random(seed).shuffle(paths)
    found = []
    for path in paths[:most]:
        code = subprocess.run(["zstd", "-dqc", path], capture_output=True, check=True).stdout
        try:
            found.append((len(code) / 1024, compile_ms(client, code)))
        except Exception as error:  # callbacks and functions of libraries are known only to their own process
            print(f"  {path.name}: {str(error).splitlines()[0][:100]}")
    return np.array(found).reshape(-1, 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", type=pathlib.Path, nargs="+")
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    client = jax.devices("cpu")[0].client
    compile_ms(client, str(jax.jit(lambda x: x + 1).lower(1.0).compiler_ir()).encode())  # the first is slower
    everything = []
    for folder in args.runs:
        m = measure(client, folder, args.most, args.seed)
        took, said = m[:, 1].sum() / 1e3, estimate() * m[:, 0].sum() / 1e3
        everything.append(m)
        print(f"{folder.name}: {len(m)} programs of {m[:, 0].mean():.1f} KiB: {took:.1f} CPU s, estimated {said:.1f}", flush=True)
    sums = np.array([m.sum(0) for m in everything])
    print("ms a KiB in each:", " ".join(f"{ms / kib:.1f}" for kib, ms in sums), f"together {sums[:, 1].sum() / sums[:, 0].sum():.1f}")


if __name__ == "__main__":
    main()
