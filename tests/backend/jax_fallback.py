"""A program that XLA's CPU runs and the CPU backend cannot, under JAX; prints what came of it as JSON.

It calls a function of the old kind, without XLA's foreign function interface: only XLA's CPU client can call it. It
also registers a function that was built for a newer interface than the backend's."""
import ctypes
import gc
import json
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

SIZE = 16


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.POINTER(ctypes.c_float)))
def triple(out, ins):
    for i in range(SIZE):
        out[i] = 3 * ins[0][i]


def capsule(function, name=None):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.cast(function, ctypes.c_void_p), name, None)


class Version(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("major", ctypes.c_int), ("minor", ctypes.c_int)]


class Api(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("version", Version)]


class Metadata(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("version", Version), ("traits", ctypes.c_uint32)]


class Extension(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.c_void_p), ("metadata", ctypes.POINTER(Metadata))]


class Frame(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.POINTER(Extension)), ("api", ctypes.POINTER(Api))]


asked = []


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Frame))
def newer(frame):
    """Answers each runtime which interface it was built for: XLA, which asks first, the one that XLA has."""
    version = frame.contents.extension.contents.metadata.contents.version
    version.major, version.minor = 0, frame.contents.api.contents.version.minor + len(asked)
    asked.append(version.minor)
    return None


jax.ffi.register_ffi_target("newer", capsule(newer, b"xla._CUSTOM_CALL_TARGET"), platform="cpu", api_version=1)
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


def callback_outlives(compute):
    """Launches a program with a callback behind one that waits, and drops both. What the callback was called with."""
    go, seen = threading.Event(), []
    large = jax.ShapeDtypeStruct((256, 256), np.float32)  # too large to run in this thread
    wait = jax.jit(lambda v: jax.pure_callback(lambda a: go.wait(60) and a, large, v))

    def told(v):
        jax.debug.callback(lambda a: seen.append(float(a)), compute(v)[1])
        return compute(v)

    first = wait(np.ones(large.shape, np.float32))
    last = jax.jit(told)(jnp.asarray(x))
    del wait, told
    jax.clear_caches()
    gc.collect()
    go.set()
    jax.block_until_ready((first, last))
    jax.effects_barrier()
    return seen


def lower_in_threads(programs):
    """The number of MLIR contexts that two threads lower so many programs in, and whether all are right."""
    lowered = {}

    def lower(k):
        lowered.update({(k, i): jax.jit(lambda v, i=i: v * k + i).lower(x) for i in range(programs // 2)})

    threads = [threading.Thread(target=lower, args=(k,)) for k in (2, 3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    contexts = [low.compiler_ir().context for low in lowered.values()]
    right = all(np.array_equal(low.compile()(x), x * k + i) for (k, i), low in lowered.items())
    return [len({id(c) for c in contexts}), right]


def told_before_the_result():
    """What callbacks of a loop were called with when the launch returned, behind a program that takes a while."""
    seen, matrix = [], np.ones((600, 600), np.float32)  # too large to run in this thread without a reason
    product = jax.jit(lambda m: m @ m)

    def tell(n):
        time.sleep(0.1)
        seen.append(int(n))

    def turn(i, m):
        jax.debug.callback(tell, i)
        return m * 2

    result = jax.jit(lambda m: jax.lax.fori_loop(0, 4, turn, m))(product(product(matrix)))
    told = list(seen)
    result.block_until_ready()
    return told


x = np.arange(SIZE, dtype=np.float32)
found = {"asked": asked, "platform": jax.default_backend(), "devices": [str(d) for d in jax.devices()]}
found["error"] = text_of(tripled, x)
if not found["error"]:
    found["right"] = np.array_equal(tripled(x), 3 * x + 1)
    found["again"] = np.array_equal(tripled(x[::-1].copy()), 3 * x[::-1] + 1)
    mesh = jax.make_mesh((len(jax.devices()),), ("i",), axis_types=(AxisType.Auto,))
    rows = np.tile(x, (len(jax.devices()), 1)) * np.arange(1, len(jax.devices()) + 1, dtype=np.float32)[:, None]
    each = jax.jit(jax.shard_map(lambda v: jax.lax.psum(call(v[0]), "i")[None], mesh=mesh, in_specs=P("i"), out_specs=P("i")))
    got = each(jax.device_put(rows, NamedSharding(mesh, P("i"))))
    found["on every device"] = np.array_equal(got, np.broadcast_to(3 * rows.sum(0), rows.shape))
    found["callback by XLA"] = callback_outlives(call)
found["callback"] = callback_outlives(lambda v: v + 1)
found["told"] = told_before_the_result()
found["lowered"] = lower_in_threads(80)
found["neither"] = text_of(refused_by_both, x)
matrix = np.array([[0.0, 1.0], [-1.0, 0.0]], np.float32)
found["eig"] = sorted(complex(v).imag for v in np.asarray(jnp.linalg.eig(matrix)[0]))
found["branch"] = float(jax.lax.platform_dependent(np.float32(1), cpu=lambda v: v + 5, default=lambda v: v + 6))
json.dump(found, sys.stdout)
