"""Runs a JAX script over the fake plugin, which has to be told each program's signature.

usage: over_fake.py PLUGIN SCRIPT [argument...]
What is computed is nonsense; what is dispatched, and which results feed which programs, is real."""
import ctypes
import os
import re
import runpy
import sys

plugin, script = sys.argv[1:3]
os.environ.update(PJRT_NAMES_AND_LIBRARY_PATHS=f"fake:{plugin}", JAX_PLATFORMS="fake", FAKE_EACH="1")
# Told from outside, so that the layer's own environment is not disturbed: the real plugin is loaded
# by its path, once.
calls = ctypes.CDLL(os.environ.get("FAKE_REAL", plugin)).FakePlugin_Calls
calls.argtypes, calls.restype = [ctypes.c_char_p], ctypes.c_ulong

import jax._src.compiler as compiler  # noqa: E402

TYPES = {"i1": "pred", "i8": "s8", "i16": "s16", "i32": "s32", "i64": "s64", "ui8": "u8",
         "ui16": "u16", "ui32": "u32", "ui64": "u64", "f16": "f16", "f32": "f32", "f64": "f64",
         "bf16": "bf16"}


def shape(tensor):
    *dims, element = re.fullmatch(r"tensor<(.*)>", str(tensor)).group(1).split("x")
    return f"{TYPES[element]}[{','.join(dims)}]"


def name_signature(module):
    main = next(op for op in module.body.operations
                if op.operation.name == "func.func" and op.name.value == "main")
    os.environ["FAKE_PARAMS"] = " ".join(shape(t) for t in main.type.inputs)
    os.environ["FAKE_OUTPUTS"] = " ".join(shape(t) for t in main.type.results)
    if not os.environ.get("FAKE_NAMELESS"):
        os.environ["FAKE_NAME"] = str(module.operation.attributes["sym_name"]).strip('"')


compile_and_load = compiler.backend_compile_and_load


def patched(backend, module, *args, **kwargs):
    name_signature(module)
    return compile_and_load(backend, module, *args, **kwargs)


compiler.backend_compile_and_load = patched
sys.argv = sys.argv[2:]
sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
import common  # noqa: E402

common._executions = lambda: calls(b"PJRT_LoadedExecutable_Execute")
runpy.run_path(script, run_name="__main__")
