"""The real TPU compiler accepts what Stet prints, and makes the same executable of it.

A dozen programs are lowered for TPU and written as JAX sends them; stet-dump prints each as text; libtpu compiles
both ahead of time (pjrt_harness --aot) and PJRT_Executable_Fingerprint must be the same for both forms and different
for different programs.

    roundtrip.py --dump stet-dump --harness pjrt_harness --plugin libtpu.so
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"  # lowering only
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import compiler
from jax._src.lib import _jax
from jax.experimental import pallas as pl
from jax.sharding import NamedSharding, PartitionSpec
from jaxlib.mlir.dialects import stablehlo


def S(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def add_kernel(x, y, o):
    o[...] = x[...] + y[...]


WEIGHTS = np.random.RandomState(0).randn(64, 64).astype(np.float32)
PROGRAMS = {
    "matmul": (lambda x, w: jnp.tanh(x @ w), S(128, 256), S(256, 128)),
    "bf16": (lambda x, w: lax.dot(x, w, preferred_element_type=jnp.float32), S(128, 128, dtype=jnp.bfloat16),
             S(128, 128, dtype=jnp.bfloat16)),
    "grad": (jax.grad(lambda w, x: (jnp.sin(x @ w) ** 2).mean()), S(32, 32), S(8, 32)),
    "conv": (lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
             S(1, 16, 16, 8), S(3, 3, 8, 16)),
    "scan": (lambda x: lax.scan(lambda c, v: (c * 0.9 + v, c.sum()), jnp.zeros(128), x), S(16, 128)),
    "while": (lambda x: lax.while_loop(lambda v: v.sum() < 100, lambda v: v * 2, x), S(128)),
    "cond": (lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), S(dtype=jnp.bool_), S(128)),
    "scatter": (lambda x, i, u: x.at[i].add(u), S(64, 128), S(8, dtype=jnp.int32), S(8, 128)),
    "sort": (lambda x: jnp.sort(x, axis=0), S(64, 128)),
    "random": (lambda k: jax.random.normal(jax.random.wrap_key_data(k), (128,)), S(2, dtype=jnp.uint32)),
    "constant": (lambda x: x @ WEIGHTS, S(64, 64)),
    "pallas": (lambda x, y: pl.pallas_call(add_kernel, out_shape=S(8, 128))(x, y), S(8, 128), S(8, 128)),
}


def sharded():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("d", "m"))
    spec = lambda *axes: NamedSharding(mesh, PartitionSpec(*axes))  # noqa: E731
    f = jax.jit(lambda x, w: lax.with_sharding_constraint(x @ w, spec("d", "m")) + 1,
                in_shardings=(spec("d"), spec(None, "m")), out_shardings=spec("d"))
    return f.trace(S(128, 256), S(256, 128)).lower(lowering_platforms=("tpu",))


def write(folder, tool, name, lowered):
    module = lowered.compiler_ir("stablehlo")
    binary, text = folder / f"{name}.mlirbc", folder / f"{name}.mlir"
    binary.write_bytes(_jax.mlir.serialize_portable_artifact(
        module, stablehlo.get_current_version(), use_mixed_serialization=True))
    text.write_bytes(subprocess.run([tool, "-t", binary], check=True, capture_output=True).stdout)
    return [str(binary), str(text)]


def compile_all(options, folder, settings, files):
    path = folder / "options.pb"
    path.write_bytes(settings.SerializeAsString())
    environment = dict(os.environ, TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v6e-8",
                       TPU_WORKER_HOSTNAMES="localhost", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
    result = subprocess.run([options.harness, "--aot", "v6e:2x4", "--options", path, options.plugin, *files],
                            env=environment, capture_output=True, text=True)
    try:
        return [r.get("fingerprint") or str(r)[:300] for r in json.loads(result.stdout)["results"]]
    except (ValueError, KeyError):
        sys.exit(f"the harness failed: {result.stdout[-500:]} {result.stderr[-1500:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("dump", "harness", "plugin"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    names, prints = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        files = []
        for name, (f, *args) in PROGRAMS.items():
            lowered = jax.jit(f).trace(*args).lower(lowering_platforms=("tpu",))
            files += write(folder, options.dump, name, lowered)
            names.append(name)
        one = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        prints += compile_all(options, folder, one, files)
        many = compiler.get_compile_options(num_replicas=1, num_partitions=8,
                                            device_assignment=np.arange(8).reshape(1, 8))
        names.append("sharded")
        prints += compile_all(options, folder, many, write(folder, options.dump, "sharded", sharded()))
    wrong = 0
    for i, name in enumerate(names):
        binary, text = prints[2 * i], prints[2 * i + 1]
        same = binary == text and len(binary) == 64
        wrong += not same
        print(f"{'same ' if same else 'WRONG'} {name} {binary[:16]} {'' if same else text}")
    distinct = len(set(prints)) == len(names)
    if not distinct:
        print("WRONG different programs have one fingerprint: the comparison means nothing")
    print(f"{len(names)} programs compiled twice by libtpu, {wrong} differ")
    return 1 if wrong or not distinct or len(names) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
