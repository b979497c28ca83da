"""Does HLO that Stet brought over to StableHLO still mean the same?

Usage: legal.py TOOL FOLDER...: every NAME.pb is converted by TOOL (hlo_text stablehlo), verified by MLIR,
compiled by XLA and run on random inputs beside the same proto converted by XLA's own importer. Results
must be equal bit for bit. Programs that draw random numbers, call Python or run on several
devices are only verified."""

import glob
import os
import subprocess
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.extend
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib import _jax
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)
CLIENT = jax.extend.backend.get_backend("cpu")
DEVICE = CLIENT.local_devices()[0]
DEVICES = _jax.DeviceList((DEVICE,))
# opcodes for which one device and one run prove nothing
SKIP = ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective", "partition-id", "rng(",
        "rng-bit-generator(", "custom-call(", "infeed", "outfeed")


def compile_module(text):
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    with mlir.make_ir_context() as ctx, ir.Location.unknown(ctx):
        module = ir.Module.parse(text)
        return CLIENT.compile_and_load(module, DEVICES, options)


def inputs(shapes, seed):
    rng = np.random.default_rng(seed)
    out = []
    for shape in shapes:
        dtype, dims = np.dtype(shape.numpy_dtype()), shape.dimensions()
        if dtype.kind in "fV" or "float" in dtype.name:
            v = rng.standard_normal(dims).astype(dtype)
        elif dtype.kind == "c":
            v = (rng.standard_normal(dims) + 1j * rng.standard_normal(dims)).astype(dtype)
        elif dtype.kind == "b":
            v = rng.integers(0, 2, dims).astype(dtype)
        else:
            v = rng.integers(0, 3, dims).astype(dtype)
        out.append(jax.device_put(v, DEVICE))
    return out


def run(executable, args):
    results = executable.execute_sharded(args).disassemble_into_single_device_arrays()
    return [np.asarray(r[0]) for r in results]


def same(a, b):
    return len(a) == len(b) and all(
        x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        for x, y in zip(a, b))


def check(tool, path):
    made = subprocess.run([tool, "stablehlo", path], capture_output=True, text=True)
    if made.returncode:
        return "unsupported", made.stderr.strip()
    with mlir.make_ir_context() as ctx, ir.Location.unknown(ctx):
        ir.Module.parse(made.stdout).operation.verify()
    proto = open(path, "rb").read()
    text = subprocess.run([tool, "short", path], capture_output=True, text=True).stdout
    if any(word in text for word in SKIP):
        return "verified", ""
    shapes = xla_client.XlaComputation(proto).program_shape().parameter_shapes()
    reference = CLIENT.compile_and_load(xla_client._xla.mlir.hlo_to_stablehlo(proto)
                                        if hasattr(xla_client._xla.mlir, "hlo_to_stablehlo")
                                        else proto, DEVICES,
                                        compiler.get_compile_options(1, 1))
    ours = compile_module(made.stdout)
    a, b = run(reference, inputs(shapes, 7)), run(ours, inputs(shapes, 7))
    return ("same", "") if same(a, b) else ("differs", "results are not equal")


def main():
    tool, folders = sys.argv[1], sys.argv[2:]
    counts, bad = {}, 0
    for folder in folders:
        for path in sorted(glob.glob(f"{folder}/*.pb")):
            if ".opt" in path:
                continue
            try:
                what, why = check(tool, path)
            except Exception as error:
                what, why = "failed", f"{type(error).__name__}: {str(error)[:500]}"
            counts[what] = counts.get(what, 0) + 1
            if why:
                print(f"{os.path.basename(path)}: {what}: {why}")
            bad += what in ("failed", "differs")
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    sys.exit(bool(bad) or counts.get("same", 0) < 50)


main()
