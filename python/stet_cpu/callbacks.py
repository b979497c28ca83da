"""Python callbacks of JAX as one function of XLA's foreign function interface (abi/xla_ffi.h).

A program calls TARGET with the number of a callback. The same function serves programs of Stet's
backend and those that XLA's own CPU client runs."""

import ctypes
import itertools
import threading
import traceback

import numpy as np

TARGET = "stet_python_callback"
TOKEN = 17
INTERNAL = 13
INSTANTIATE = 0  # the stage when a program is loaded

_numbers = itertools.count(1)
_callbacks = {}  # by number: the callback, and how many programs and Registered objects use it
_lock = threading.RLock()  # a Registered object may be collected while it is held


class Span(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Buffer(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("dtype", ctypes.c_int),
                ("data", ctypes.c_void_p), ("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64))]


class Buffers(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("types", ctypes.c_void_p), ("at", ctypes.POINTER(ctypes.POINTER(Buffer)))]


class Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", ctypes.POINTER(ctypes.c_uint64))]


class Attributes(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("types", ctypes.c_void_p), ("names", ctypes.POINTER(ctypes.POINTER(Span))),
                ("at", ctypes.POINTER(ctypes.POINTER(Scalar)))]


class ErrorArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class StateArgs(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("context", ctypes.c_void_p), ("stage", ctypes.c_int),
                ("type_id", ctypes.POINTER(ctypes.c_int64)), ("state", ctypes.c_void_p)]


class Api(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("version", ctypes.c_char * 24),
                ("internal", ctypes.c_void_p), ("error_create", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ErrorArgs))),
                ("others", ctypes.c_void_p * 6), ("state_set", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(StateArgs)))]


class Version(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("major", ctypes.c_int), ("minor", ctypes.c_int)]


class Metadata(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("version", Version), ("traits", ctypes.c_uint32)]


class MetadataExtension(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.c_void_p), ("metadata", ctypes.POINTER(Metadata))]


class Frame(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.POINTER(MetadataExtension)), ("api", ctypes.POINTER(Api)),
                ("context", ctypes.c_void_p), ("stage", ctypes.c_int), ("args", Buffers), ("rets", Buffers), ("attrs", Attributes)]


def dtypes():
    """NumPy's types by the numbers of xla::PrimitiveType."""
    import ml_dtypes

    names = {1: np.bool_, 2: np.int8, 3: np.int16, 4: np.int32, 5: np.int64, 6: np.uint8, 7: np.uint16, 8: np.uint32,
             9: np.uint64, 10: np.float16, 11: np.float32, 12: np.float64, 15: np.complex64, 18: np.complex128}
    for number, name in {16: "bfloat16", 19: "float8_e5m2", 20: "float8_e4m3fn", 21: "int4", 22: "uint4",
                         23: "float8_e4m3b11fnuz", 24: "float8_e5m2fnuz", 25: "float8_e4m3fnuz", 26: "int2", 27: "uint2",
                         28: "float8_e4m3", 29: "float8_e3m4", 32: "float4_e2m1fn", 33: "float8_e8m0fnu"}.items():
        if hasattr(ml_dtypes, name):
            names[number] = getattr(ml_dtypes, name)
    return {number: np.dtype(name) for number, name in names.items()}


DTYPES = dtypes()


def array_of(buffer):
    """The buffer's memory as an array; None for a token."""
    if buffer.dtype == TOKEN:
        return None
    shape = tuple(buffer.dims[: buffer.rank])
    dtype = DTYPES[buffer.dtype]
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size == 0:
        return np.empty(shape, dtype)
    return np.frombuffer((ctypes.c_char * size).from_address(buffer.data), dtype).reshape(shape)


def use(number, change):
    """Counts a use of a callback, or its end."""
    with _lock:
        callback, uses = _callbacks[number]
        if uses + change:
            _callbacks[number] = callback, uses + change
        else:
            del _callbacks[number]


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def drop(number):
    """A program that used the callback is gone."""
    use(number, -1)


class TypeInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


# What a loaded program keeps of a call: the number of its callback, not 0.
TYPE = "stet_python_callback_use"
type_id = ctypes.c_int64(0)
type_info = TypeInfo(ctypes.sizeof(TypeInfo), None, ctypes.cast(drop, ctypes.c_void_p))


def keep(frame):
    """JAX may drop the program while launches of it wait, and the Registered object with it."""
    number = frame.attrs.at[0].contents.value[0]
    use(number, 1)
    error = frame.api.contents.state_set(StateArgs(ctypes.sizeof(StateArgs), None, frame.context, INSTANTIATE, ctypes.pointer(type_id), number))
    if error:
        use(number, -1)
    return error


def run(frame):
    callback, _ = _callbacks[frame.attrs.at[0].contents.value[0]]
    args = [array_of(frame.args.at[i].contents) for i in range(frame.args.size)]
    args = [None if a is None else a.copy() for a in args]  # the memory is the program's
    results = callback(*args)
    for i, result in zip(range(frame.rets.size), results):
        to = array_of(frame.rets.at[i].contents)
        if to is not None:
            to[...] = result


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Frame))
def handler(pointer):
    """Of both stages."""
    frame = pointer.contents
    if frame.extension and frame.extension.contents.type == 1:  # asks only for the version
        version = frame.extension.contents.metadata.contents.version
        version.major, version.minor = 0, 1
        return None
    try:
        return (keep if frame.stage == INSTANTIATE else run)(frame)
    except BaseException:
        text = "CpuCallback error calling callback: " + traceback.format_exc()
        args = ErrorArgs(ctypes.sizeof(ErrorArgs), None, text.encode(errors="replace"), INTERNAL)
        return frame.api.contents.error_create(args)


class Registered:
    """Keeps a callback callable by its number, as long as this object or a program that calls it lives."""

    def __init__(self, callback):
        self.number = next(_numbers)
        _callbacks[self.number] = callback, 1

    def __del__(self):
        use(self.number, -1)


def capsule(address, name=b"xla._CUSTOM_CALL_TARGET"):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address, name, None)


def register(function, type_):
    """`function(name, stages)` and `type_(name, type)` register with XLA and the backend."""
    stage = capsule(ctypes.cast(handler, ctypes.c_void_p).value)
    type_(TYPE, {"type_id": capsule(ctypes.addressof(type_id)), "type_info": capsule(ctypes.addressof(type_info))})
    function(TARGET, {"instantiate": stage, "execute": stage})
