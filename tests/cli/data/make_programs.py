"""Writes the programs of this folder: train.py lowered with one knob turned at a time.

usage: python - < data/make_programs.py   (an environment with jax; in tests/cli; from standard input,
so that no path of this machine gets into the locations)
"""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax._src.lib.mlir.dialects import hlo
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

# Compiled under a relative name, so that locations do not depend on who ran this.
train = {}
exec(compile(open("data/train.py").read(), "data/train.py", "exec"), train)


def spec(shape, axes):
    mesh = Mesh(np.array(jax.devices()).reshape(shape), ("data", "model"))
    one = NamedSharding(mesh, P())
    return ([(one, one)] * 2, {"x": NamedSharding(mesh, P(*axes)), "y": one})


VARIANTS = {
    "base": {},
    "lr": dict(lr=9.99e-4),
    "start": dict(start=3),
    "batch": dict(batch=6),
    "batch_one": dict(batch=1),
    "rank": dict(lead=(3,)),
    "bf16": dict(dtype="bfloat16"),
    "mask": dict(mask=True),
    "reps": dict(reps=5),
    "layers": dict(layers=3),
    "branch": dict(branch=True),
    "donate": dict(donate=(0,)),
    "two": dict(lr=0.5, batch=8),
    "sharded": dict(shardings=spec((2, 2), ("data",))),
    "resharded": dict(shardings=spec((2, 2), (None, "model"))),
    "other_mesh": dict(shardings=spec((4, 1), ("data",))),
}

for name, knobs in VARIANTS.items():
    lowered = train["lower"](**knobs)
    if name in ("base", "mask", "reps"):
        with open(f"data/{name}.hlo.pb", "wb") as out:
            out.write(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
    module = lowered.compiler_ir("stablehlo")
    if name == "base":  # serialising converts the module in place
        with open(f"data/{name}.mlir", "w") as out:
            out.write(module.operation.get_asm(enable_debug_info=True))
    with open(f"data/{name}.mlirbc", "wb") as out:
        out.write(hlo.serialize_portable_artifact(module, hlo.get_current_version(), True))
