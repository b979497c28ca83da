"""One argument of a canonical batch: what its arrays must be, and padding NumPy's and torch's arrays to that."""

import ctypes
import dataclasses
import math
import sys

import numpy as np

from . import batch_library as library
from .batch_library import LIB

_HOST = (1, 3, 11)  # DLPack's devices whose memory the host reads: CPU, and pinned by CUDA and ROCm
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_MOST_SHAPES = 1024  # that one argument remembers


@dataclasses.dataclass(frozen=True)
class Leaf:
    """What an array must be: a dtype, and for each dimension a size, a tuple of sizes (the smallest that holds the
    array is used), a range, or None for any. `fill` is what the rest is filled with."""

    dtype: str
    dims: tuple
    fill: object = 0

    def target(self, shape, name):
        """The shape to pad to."""
        if len(shape) != len(self.dims):
            raise ValueError(f"{name} has {len(shape)} dimensions, {len(self.dims)} are wanted")
        return tuple([size if allowed is None else self._fit(size, allowed, name, d)
                      for d, (size, allowed) in enumerate(zip(shape, self.dims))])

    def _fit(self, size, allowed, name, dim):
        if isinstance(allowed, int):
            if size <= allowed:
                return allowed
            allowed = (allowed,)
        for bucket in allowed:
            if bucket >= size:
                return bucket
        raise ValueError(f"dimension {dim} of {name} is {size}; the largest size is {max(allowed)}")

    def absent(self, chosen, name):
        """The shape of an absent array: what arrays with the same choice of sizes have in this batch, else the
        smallest size."""
        if any(d is None for d in self.dims):
            raise ValueError(f"{name} is absent, and a dimension of it may have any size: give its sizes")
        return tuple([d if isinstance(d, int) else chosen.get((k, d), min(d)) for k, d in enumerate(self.dims)])


# ---- arrays of the frameworks ----


def _torch():
    return sys.modules.get("torch")


def is_tensor(value):
    if type(value) is np.ndarray:
        return False
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor)


def _torch_dtype(name):
    return getattr(_torch(), name)


def _numpy_dtype(name, argument):
    """NumPy's dtype and its bytes. NumPy has no bfloat16 or float8 of its own: they come from ml_dtypes, or are
    torch's alone."""
    try:
        dtype = np.dtype(name)
    except TypeError:
        try:
            import ml_dtypes

            dtype = np.dtype(getattr(ml_dtypes, name))
        except (ImportError, AttributeError):
            if _torch() is None or not hasattr(_torch(), name):
                raise ValueError(f"{name} is not a dtype of NumPy, ml_dtypes or torch") from None
            return None, _torch_dtype(name).itemsize
    if dtype.hasobject:
        raise ValueError(f"{argument} is of Python objects ({name}), which cannot be padded")
    return dtype, dtype.itemsize


def _fill_bytes(fill, type_name, dtype, argument):
    """The element to fill with; None for zeros."""
    if not fill:
        return None
    if dtype is None:
        torch = _torch()
        made = torch.full((1,), fill, dtype=_torch_dtype(type_name)).view(torch.uint8)
        return bytes(made.tolist())
    try:
        with np.errstate(all="ignore"):
            made = np.asarray(fill).astype(dtype)
        fits = dtype.kind not in "iu" or made == fill
    except OverflowError:
        fits = False
    if not fits:
        raise ValueError(f"{argument} is filled with {fill}, which does not fit into {type_name}")
    return made.tobytes()


def _native(array):
    """In the byte order of this machine."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _as_numpy(value, name):
    """Zero-copy for NumPy, DLPack and the buffer protocol; lists of numbers are converted."""
    if isinstance(value, np.ndarray):
        return _native(value)
    if not hasattr(value, "__dlpack__"):
        return _native(np.asarray(value))
    try:
        if int(value.__dlpack_device__()[0]) not in _HOST:
            raise ValueError(f"{name} is on a device: pad batches before they are moved")
        return np.from_dlpack(value)
    except (BufferError, RuntimeError):
        return np.asarray(value)  # NumPy has no DLPack for bfloat16 and arrays of several devices


def _in_memory(tensor, name):
    """The tensor, with its values in the host's memory as its strides say."""
    if tensor.device.type != "cpu":
        raise ValueError(f"{name} is on {tensor.device}: pad batches before they are moved")
    if tensor.layout is not _torch().strided:
        raise ValueError(f"{name} is {tensor.layout}, and only dense tensors are padded")
    # torch conjugates and negates lazily, by a flag beside the memory.
    return tensor.resolve_conj().resolve_neg() if tensor.is_conj() or tensor.is_neg() else tensor


def _type_name(value):
    return str(value.dtype).removeprefix("torch.") if is_tensor(value) else value.dtype.name


class _Kind:
    """NumPy or torch: how to allocate, where the bytes are, and how to convert what the library does not."""

    def __init__(self, tensor):
        self.tensor = tensor

    def empty(self, shape, dtype, numbered):
        if self.tensor:
            return _torch().empty(shape, dtype=_torch_dtype(dtype))
        return np.empty(shape, dtype=numbered)

    def address(self, array):
        return array.data_ptr() if self.tensor else array.__array_interface__["data"][0]

    def convert(self, array, dtype, numbered):
        return array.to(_torch_dtype(dtype)) if self.tensor else array.astype(numbered)

    def strides(self, array):
        return [s * array.element_size() for s in array.stride()] if self.tensor else array.strides


_NUMPY, _TORCH = _Kind(False), _Kind(True)
_ANSWERS = {
    library.RANGE: "a value of {name} does not fit into {dtype}",
    library.TYPE: "{name} is {have}, and that is not converted to {dtype}",
    library.SHAPE: "{name} is larger than its place",
}


def _rows_are_tensors(rows, name):
    torch = _torch()
    tensors = {torch is not None and issubclass(kind, torch.Tensor) for kind in {type(r) for r in rows}}
    if len(tensors) > 1:
        raise ValueError(f"some rows of {name} are tensors and others are not")
    return tensors.pop()


def _rows_as_tensors(rows, name):
    """Contiguous tensors. Only floats are conjugated and negated lazily."""
    strided, dtype = _torch().strided, rows[0].dtype
    lazy = dtype.is_floating_point or dtype.is_complex
    return [r if r.is_cpu and r.layout is strided and r.is_contiguous() and not (lazy and (r.is_neg() or r.is_conj())) else
            _in_memory(r, name).contiguous() for r in rows]


def _rows_as_arrays(rows, name, dtype):
    """Contiguous arrays of one dtype and rank. An empty list has neither."""
    made = [r if type(r) is np.ndarray and r.dtype.isnative else
            _as_numpy(r, name) if not isinstance(r, (list, tuple)) or r else None for r in rows]
    known = [r for r in made if r is not None]
    types = {r.dtype for r in known}
    common = types.pop() if len(types) == 1 else np.result_type(*types) if types else dtype
    empty = (0,) + (known[0].shape[1:] if known else ())
    return [np.empty(empty, common) if r is None else
            r if r.dtype is common and r.flags.c_contiguous else np.ascontiguousarray(r, common) for r in made]


class Padder:
    """Makes the arrays of one argument canonical."""

    def __init__(self, name, leaf):
        self.name, self.leaf, self.type = name, leaf, leaf.dtype
        self.dtype, size = _numpy_dtype(leaf.dtype, name)
        self.number = library.NUMBER.get(self.type, library.RAW.get(size))
        self.fill = _fill_bytes(leaf.fill, self.type, self.dtype, name)
        self.targets = {}

    def _target(self, shape):
        """The shape to pad to. Shapes that came before are looked up."""
        found = self.targets.get(shape)
        if found is None:
            found = self.leaf.target(shape, self.name)
            if len(self.targets) < _MOST_SHAPES:
                self.targets[shape] = found
        return found

    def _check(self, answer, have):
        if answer != library.FINE:
            raise ValueError(_ANSWERS[answer].format(name=self.name, dtype=self.type, have=have))

    def _is_rounded(self, have):
        """To and from floats of 16 bits, which the library only copies."""
        return self.type in _FLOATS and have != self.type and (
            (have in _FLOATS and not (have in library.NUMBER and self.type in library.NUMBER))
            or (have in library.NUMBER and self.type not in library.NUMBER))

    def _number(self, have):
        number = self.number if have == self.type else library.NUMBER.get(have, -1)
        if number < 0:
            self._check(library.TYPE, have)
        return number

    def zeros(self, chosen, tensor):
        """An absent array: zeros."""
        shape = self.leaf.absent(chosen, self.name)
        return _torch().zeros(shape, dtype=_torch_dtype(self.type)) if tensor else np.zeros(shape, self.dtype)

    def pad(self, value):
        """One array; returned as it is when it is canonical already."""
        if type(value) is not np.ndarray:
            if is_tensor(value):
                return self._pad_tensor(_in_memory(value, self.name))
            value = _as_numpy(value, self.name)
        shape = value.shape
        target = self._target(shape)
        if value.dtype is not self.dtype and value.dtype != self.dtype:
            value = _native(value)
            if value.dtype != self.dtype:
                return self._write(value, _NUMPY, target, shape)
        if target == shape:
            return value
        if target[1:] != shape[1:]:
            return self._write(value, _NUMPY, target, shape)
        # Only the first dimension grows: NumPy does that in two copies, and is called sooner.
        out = np.empty(target, self.dtype)
        out[: shape[0]] = value
        out[shape[0] :] = self.leaf.fill
        return out

    def _pad_tensor(self, value):
        shape = tuple(value.shape)
        target = self._target(shape)
        return value if target == shape and _type_name(value) == self.type else self._write(value, _TORCH, target, shape)

    def _write(self, value, kind, target, shape):
        rank, have = len(target), _type_name(value)
        if rank > library.RANK:
            raise ValueError(f"{self.name} has {rank} dimensions; at most {library.RANK} are padded")
        if self._is_rounded(have):
            value, have = kind.convert(value, self.type, self.dtype), self.type
            if target == shape:
                return value
        sizes = ctypes.c_int64 * max(rank, 1)
        dims, inner, steps = sizes(*target), sizes(*shape), sizes(*kind.strides(value))
        array = library.Array(kind.address(value), ctypes.addressof(inner), ctypes.addressof(steps))
        number, out = self._number(have), kind.empty(target, self.type, self.dtype)
        self._check(LIB.stet_batch_pad(kind.address(out), dims, rank, self.number, ctypes.byref(array), number, self.fill), have)
        return out

    def stack(self, rows):
        """A list of rows that differ in their first dimension, one on the other. Returns array and lengths."""
        tensor = _rows_are_tensors(rows, self.name)
        kind = _TORCH if tensor else _NUMPY
        rows = _rows_as_tensors(rows, self.name) if tensor else _rows_as_arrays(rows, self.name, self.dtype)
        have, below = _type_name(rows[0]), tuple(rows[0].shape[1:])
        first, rank = rows[0].dtype, len(below) + 1
        if any(r.dtype != first or r.ndim != rank for r in rows) or (below and any(tuple(r.shape[1:]) != below for r in rows)):
            raise ValueError(f"rows of {self.name} differ in more than their length")
        if self._is_rounded(have):
            rows, have = [kind.convert(r, self.type, self.dtype) for r in rows], self.type
        lengths = [len(r) for r in rows]
        target = self.leaf.target((len(rows), max(lengths)) + below, self.name)
        if target[2:] != below:
            raise ValueError(f"rows of {self.name} have sizes {below} below their length, {target[2:]} are wanted")
        number, out = self._number(have), kind.empty(target, self.type, self.dtype)
        data = [r.data_ptr() for r in rows] if tensor else [r.__array_interface__["data"][0] for r in rows]
        self._check(LIB.stet_batch_rows(kind.address(out), target[0], target[1], math.prod(below), self.number,
                                        (ctypes.c_void_p * len(rows))(*data),
                                        (ctypes.c_int64 * len(rows))(*lengths), len(rows), number, self.fill), have)
        return out, lengths

    def mask(self, shape, lengths, tensor):
        """Ones where an array that is padded to `shape` has elements of its own: `lengths` of each row; or, if the
        mask has one dimension, ones for the rows that it has."""
        rank = len(self.leaf.dims)
        if rank == 1:
            shape, lengths = shape[:1], [1] * len(lengths)
        else:
            shape = shape[:2]
        if self._target(shape) != shape:
            raise ValueError(f"mask {self.name} would have the shape {shape}, and its sizes are {self.leaf.dims}")
        kind, made = _TORCH if tensor else _NUMPY, "float32" if self.type in _FLOATS else self.type
        out = kind.empty(shape, made, np.float32 if made == "float32" else self.dtype)
        self._check(LIB.stet_batch_mask(kind.address(out), shape[0], shape[1] if rank > 1 else 1, self._number(made),
                                        (ctypes.c_int64 * max(len(lengths), 1))(*lengths), len(lengths)), "a mask")
        return out if made == self.type else kind.convert(out, self.type, self.dtype)
