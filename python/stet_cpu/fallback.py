"""Programs that the backend cannot run, on XLA's own CPU client (src/abi/stet_ext.h, fallback.c).

The client is made when the first such program comes. It needs JAX, whichever framework the program is of."""

import atexit
import ctypes
import itertools
import threading
import traceback

import numpy as np

from stet_cpu import callbacks


class Array(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("dims", ctypes.POINTER(ctypes.c_int64))]


class Program(ctypes.Structure):
    _fields_ = [("code", ctypes.c_void_p), ("format", ctypes.c_void_p), ("options", ctypes.c_void_p),
                ("code_size", ctypes.c_size_t), ("format_size", ctypes.c_size_t), ("options_size", ctypes.c_size_t),
                ("name", ctypes.c_char_p), ("why", ctypes.c_char_p), ("devices", ctypes.POINTER(ctypes.c_int32)),
                ("device_count", ctypes.c_uint32), ("input_count", ctypes.c_uint32), ("output_count", ctypes.c_uint32),
                ("inputs", ctypes.POINTER(Array)), ("outputs", ctypes.POINTER(Array))]


Compile = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Program), ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
Run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p),
                       ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
Release = ctypes.CFUNCTYPE(None, ctypes.c_uint64)


class Functions(ctypes.Structure):
    _fields_ = [("compile", Compile), ("run", Run), ("release", Release)]


_lock = threading.Lock()
_client = None
_numbers = itertools.count(1)
_programs = {}  # by handle


def client(devices):
    """XLA's CPU client, with at least so many devices."""
    global _client
    from jaxlib import xla_client

    with _lock:
        if _client is None or len(_client.devices()) < devices:
            _client = xla_client.make_cpu_client(asynchronous=False, num_devices=max(devices, 1))
        return _client


class Border:
    """The shapes and types of the arguments or results of one device."""

    def __init__(self, arrays, count):
        self.arrays = []
        for a in arrays[:count]:
            shape = tuple(a.dims[: a.rank])
            self.arrays.append((shape, None if a.dtype == callbacks.TOKEN else callbacks.DTYPES[a.dtype]))

    def view(self, i, address):
        """The memory of array i; for a token what JAX passes for one."""
        shape, dtype = self.arrays[i]
        if dtype is None:
            return np.zeros(0, np.bool_)
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if not size:
            return np.empty(shape, dtype)
        return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape)


def module_of(code, form):
    """The program as XLA's client takes it: StableHLO."""
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir.dialects import stablehlo

    if form.startswith("hlo"):
        return _jax.mlir.hlo_to_stablehlo(code)
    if code.startswith(b"ML\xefR") and b"StableHLO_v" in code[:64]:
        context = mlir.make_ir_context()
        with context:
            return stablehlo.deserialize_portable_artifact(context, code)
    return code


class Loaded:
    """A program on XLA's client."""

    def __init__(self, p):
        from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding
        from jaxlib import _jax

        code = module_of(ctypes.string_at(p.code, p.code_size), ctypes.string_at(p.format, p.format_size).decode())
        options = _jax.CompileOptions.ParseFromString(ctypes.string_at(p.options, p.options_size))
        ids = p.devices[: p.device_count]
        by_id = {d.id: d for d in client(max(ids) + 1).devices()}
        self.devices = [by_id[i] for i in ids]
        self.inputs, self.outputs = Border(p.inputs, p.input_count), Border(p.outputs, p.output_count)
        self.each = [SingleDeviceSharding(d) for d in self.devices]
        self.all = NamedSharding(Mesh(np.array(self.devices, dtype=object), ("d",)), PartitionSpec())
        self.executable = client(len(by_id)).compile_and_load(code, _jax.DeviceList(tuple(self.devices)), options)

    def argument(self, i, addresses):
        """Argument i of all devices, as one array. Tiles have equal shapes, so any sharding of them will do."""
        from jax._src.array import ArrayImpl
        from jax._src.core import ShapedArray
        from jaxlib import _jax

        parts = []
        for n, (device, sharding) in enumerate(zip(self.devices, self.each)):
            x = self.inputs.view(i, addresses[n * len(self.inputs.arrays) + i])
            parts.append(_jax.batched_device_put(ShapedArray(x.shape, x.dtype), sharding, [x], [device], enable_x64=True))
        if len(parts) == 1:
            return parts[0]
        return ArrayImpl(parts[0].aval, self.all, parts, committed=True, _skip_checks=True)

    def run(self, inputs, outputs):
        arguments = [self.argument(i, inputs) for i in range(len(self.inputs.arrays))]
        results = self.executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        for i, result in enumerate(results):
            for n, part in enumerate(result):
                to = self.outputs.view(i, outputs[n * len(self.outputs.arrays) + i])
                if self.outputs.arrays[i][1] is None:
                    continue
                value = np.asarray(part)
                if value.shape != to.shape or value.dtype != to.dtype:
                    raise ValueError(f"result {i} of XLA's CPU client is {value.dtype}{list(value.shape)}, not {to.dtype}{list(to.shape)}")
                to[...] = value


def guarded(error, room, function, *args):
    """0, or 1 and the text of the exception."""
    try:
        function(*args)
        return 0
    except BaseException as exception:
        text = str(exception) or traceback.format_exc()
        text = text.encode(errors="replace")[: room - 1] + b"\0"
        ctypes.memmove(error, text, len(text))
        return 1


@Compile
def compile_program(program, handle, error, room):
    def load():
        loaded = Loaded(program.contents)
        handle[0] = next(_numbers)
        _programs[handle[0]] = loaded

    return guarded(error, room, load)


@Run
def run_program(handle, inputs, outputs, error, room):
    return guarded(error, room, lambda: _programs[handle].run(inputs, outputs))


@Release
def release_program(handle):
    _programs.pop(handle, None)


def install(backend):
    """From now on `backend` passes on what it cannot run; until Python ends, because these functions are Python's."""
    functions = Functions(compile_program, run_program, release_program)
    backend.set_fallback(functions)
    atexit.register(backend.set_fallback, None)
