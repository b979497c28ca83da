"""libstet_batch.so through ctypes: the functions of src/batch/batch.h and batch_spec.h."""

import ctypes
import json
import os

from stet.locate import installed

LIBRARY = "libstet_batch.so"

# The order of enum stet_batch_type.
TYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
NUMBER = {name: number for number, name in enumerate(TYPES)}
RAW = {1: 11, 2: 12, 4: 13, 8: 14, 16: 15}  # by bytes: copied, never converted
FINE, RANGE, TYPE, SHAPE = range(4)
RANK = 8  # most dimensions


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dims", ctypes.c_void_p), ("strides", ctypes.c_void_p)]


def library_path():
    """STET_BATCH_LIBRARY, else beside this package as the build lays it out, else as installed with it."""
    told = os.environ.get("STET_BATCH_LIBRARY")
    if told:
        return told
    found = installed(LIBRARY)
    if found:
        return found
    # <lib>/stet/python/stet/batch_library.py, as `stet run` and the build lay it out
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", LIBRARY)
    if os.path.exists(beside):
        return os.path.realpath(beside)
    raise FileNotFoundError(f"{LIBRARY} was not installed with stet-cli; set STET_BATCH_LIBRARY to its path")


def load():
    found = ctypes.CDLL(library_path())
    pointer, number, kind = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
    found.stet_batch_pad.argtypes = [pointer, pointer, kind, kind, pointer, kind, pointer]
    found.stet_batch_rows.argtypes = [pointer, number, number, number, kind, pointer, pointer, number, kind, pointer]
    found.stet_batch_mask.argtypes = [pointer, number, number, kind, pointer, number]
    found.stet_batch_spec.argtypes = [ctypes.c_char_p]
    found.stet_batch_spec.restype = pointer
    found.stet_batch_free.argtypes = [pointer]
    return found


LIB = load()


def read_contract(path):
    """The families of a contract; ValueError names file, line and column of what is wrong."""
    text = LIB.stet_batch_spec(os.fsencode(path))
    if not text:
        raise MemoryError("no memory for a contract")
    found = json.loads(ctypes.string_at(text).decode())
    LIB.stet_batch_free(text)
    if "error" in found:
        raise ValueError(found["error"])
    return found["families"]
