"""A program that XLA's CPU runs and the CPU backend cannot, under JAX; prints what came of it as JSON.

It calls a function of the old kind, without XLA's foreign function interface: only XLA's CPU client can call it."""
import ctypes
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

SIZE = 16


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.POINTER(ctypes.c_float)))
def triple(out, ins):
    for i in range(SIZE):
        out[i] = 3 * ins[0][i]


def capsule(function):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.cast(function, ctypes.c_void_p), None, None)


jax.ffi.register_ffi_target("triple_of_old", capsule(triple), platform="cpu", api_version=0)
shape = jax.ShapeDtypeStruct((SIZE,), np.float32)
call = jax.ffi.ffi_call("triple_of_old", shape, custom_call_api_version=1)


@jax.jit
def tripled(x):
    return call(x) + 1


@jax.jit
def refused_by_both(x):
    return jax.ffi.ffi_call("nobody_has_this", shape, custom_call_api_version=1)(x)


def text_of(function, *args):
    try:
        function(*args).block_until_ready()
        return ""
    except Exception as error:
        return str(error)


x = np.arange(SIZE, dtype=np.float32)
found = {"platform": jax.default_backend(), "devices": [str(d) for d in jax.devices()]}
found["error"] = text_of(tripled, x)
if not found["error"]:
    found["right"] = np.array_equal(tripled(x), 3 * x + 1)
    found["again"] = np.array_equal(tripled(x[::-1].copy()), 3 * x[::-1] + 1)
    mesh = jax.make_mesh((len(jax.devices()),), ("i",), axis_types=(AxisType.Auto,))
    rows = np.tile(x, (len(jax.devices()), 1)) * np.arange(1, len(jax.devices()) + 1, dtype=np.float32)[:, None]
    each = jax.jit(jax.shard_map(lambda v: jax.lax.psum(call(v[0]), "i")[None], mesh=mesh, in_specs=P("i"), out_specs=P("i")))
    got = each(jax.device_put(rows, NamedSharding(mesh, P("i"))))
    found["on every device"] = np.array_equal(got, np.broadcast_to(3 * rows.sum(0), rows.shape))
found["neither"] = text_of(refused_by_both, x)
matrix = np.array([[0.0, 1.0], [-1.0, 0.0]], np.float32)
found["eig"] = sorted(complex(v).imag for v in np.asarray(jnp.linalg.eig(matrix)[0]))
found["branch"] = float(jax.lax.platform_dependent(np.float32(1), cpu=lambda v: v + 5, default=lambda v: v + 6))
json.dump(found, sys.stdout)
