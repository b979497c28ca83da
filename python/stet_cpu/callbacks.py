"""Python callbacks of JAX as one function of XLA's foreign function interface (abi/xla_ffi.h).

A program calls TARGET with the number of a callback. The same function serves programs of Stet's
backend and those that XLA's own CPU client runs."""

import ctypes
import itertools
import traceback

import numpy as np

TARGET = "stet_python_callback"
TOKEN = 17
INTERNAL = 13

_numbers = itertools.count(1)
_callbacks = {}  # by number


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


class Api(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("version", ctypes.c_char * 24),
                ("internal", ctypes.c_void_p), ("error_create", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ErrorArgs)))]


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


def run(frame):
    callback = _callbacks[frame.attrs.at[0].contents.value[0]]
    args = [array_of(frame.args.at[i].contents) for i in range(frame.args.size)]
    args = [None if a is None else a.copy() for a in args]  # the memory is the program's
    results = callback(*args)
    for i, result in zip(range(frame.rets.size), results):
        to = array_of(frame.rets.at[i].contents)
        if to is not None:
            to[...] = result


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Frame))
def handler(pointer):
    frame = pointer.contents
    if frame.extension and frame.extension.contents.type == 1:  # asks only for the version
        version = frame.extension.contents.metadata.contents.version
        version.major, version.minor = 0, 1
        return None
    try:
        run(frame)
    except BaseException:
        text = "CpuCallback error calling callback: " + traceback.format_exc()
        args = ErrorArgs(ctypes.sizeof(ErrorArgs), None, text.encode(errors="replace"), INTERNAL)
        return frame.api.contents.error_create(args)
    return None


class Registered:
    """Keeps a callback callable by its number, as long as this object lives."""

    def __init__(self, callback):
        self.number = next(_numbers)
        _callbacks[self.number] = callback

    def __del__(self):
        _callbacks.pop(self.number, None)


def address():
    return ctypes.cast(handler, ctypes.c_void_p).value


def capsule():
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address(), b"xla._CUSTOM_CALL_TARGET", None)
