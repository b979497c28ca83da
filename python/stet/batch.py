"""Batches of fixed shapes and dtypes, so that a compiled function is not compiled again for each of them."""

import ctypes
import dataclasses

import numpy as np

from . import batch_library as library
from .batch_library import LIB


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


def _dim(d):
    if d is None:
        return None
    if isinstance(d, dict):
        return range(d["low"], d["high"] + 1, d["step"] or 1)
    return d[0] if len(d) == 1 else tuple(sorted(d))


def from_contract(path, function=None):
    """The arguments that a contract gives shapes to: name -> Leaf. `function` is needed when several functions have an
    argument of one name with other shapes."""
    found = {}
    for family in library.read_contract(path):
        if function is not None and family["name"] != function:
            continue
        for a in family["arguments"]:
            if a["many"] or a["dims"] is None or a["types"] == ["any"]:
                continue
            leaf = Leaf(a["types"][0], tuple(_dim(d) for d in a["dims"]))
            if found.setdefault(a["name"], leaf) != leaf:
                found[a["name"]] = None
    if function is not None and not found:
        raise ValueError(f"{path} has no family {function} with shapes")
    return found


# ---- arrays of the frameworks ----


def _torch():
    import sys

    return sys.modules.get("torch")


def _is_tensor(value):
    if type(value) is np.ndarray:
        return False
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor)


def _numpy_dtype(name):
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
    return dtype, dtype.itemsize


def _torch_dtype(name):
    return getattr(_torch(), name)


def _as_numpy(value):
    """Zero-copy for NumPy, DLPack and the buffer protocol; lists of numbers are converted."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def _fill_bytes(fill, dtype):
    """The element to fill with; None for zeros."""
    if not fill:
        return None
    if dtype is None:
        raise ValueError("a dtype that only torch has is filled with zeros")
    return ctypes.create_string_buffer(np.asarray(fill).astype(dtype).tobytes())


class _Kind:
    """NumPy or torch: how to allocate, where the bytes are."""

    def __init__(self, tensor):
        self.tensor = tensor

    def empty(self, shape, dtype, numbered):
        if self.tensor:
            return _torch().empty(shape, dtype=_torch_dtype(dtype))
        return np.empty(shape, dtype=numbered)

    def address(self, array):
        return array.data_ptr() if self.tensor else array.__array_interface__["data"][0]


_NUMPY, _TORCH = _Kind(False), _Kind(True)
_ANSWERS = {
    library.RANGE: "a value of {name} does not fit into {dtype}",
    library.TYPE: "{name} is {have}, and that is not converted to {dtype}",
    library.SHAPE: "{name} is larger than its place",
}


def _check(answer, name, dtype, have):
    if answer != library.FINE:
        raise ValueError(_ANSWERS[answer].format(name=name, dtype=dtype, have=have))


_MOST_SHAPES = 1024  # that one argument remembers


class Padder:
    """Makes the arrays of one argument canonical."""

    def __init__(self, name, leaf):
        self.name, self.leaf, self.type = name, leaf, leaf.dtype
        self.dtype, size = _numpy_dtype(leaf.dtype)
        self.number = library.NUMBER.get(self.type, library.RAW.get(size))
        self.fill = _fill_bytes(leaf.fill, self.dtype)
        self.targets = {}

    def _target(self, shape):
        """The shape to pad to. Shapes that came before are looked up."""
        found = self.targets.get(shape)
        if found is None:
            found = self.leaf.target(shape, self.name)
            if len(self.targets) < _MOST_SHAPES:
                self.targets[shape] = found
        return found

    def zeros(self, chosen, tensor):
        """An absent array: zeros."""
        shape = self.leaf.absent(chosen, self.name)
        return _torch().zeros(shape, dtype=_torch_dtype(self.type)) if tensor else np.zeros(shape, self.dtype)

    def pad(self, value):
        """One array; returned as it is when it is canonical already."""
        if type(value) is not np.ndarray:
            if _is_tensor(value):
                return self._pad_tensor(value)
            value = _as_numpy(value)
        shape = value.shape
        target = self._target(shape)
        if value.dtype is not self.dtype and value.dtype != self.dtype:
            return self._write(value, _NUMPY, target, shape, value.strides, value.dtype.name)
        if target == shape:
            return value
        if target[1:] != shape[1:]:
            return self._write(value, _NUMPY, target, shape, value.strides, self.type)
        # Only the first dimension grows: NumPy does that in two copies, and is called sooner.
        out = np.empty(target, self.dtype)
        out[: shape[0]] = value
        out[shape[0] :] = self.leaf.fill
        return out

    def _pad_tensor(self, value):
        if value.device.type != "cpu":
            raise ValueError(f"{self.name} is on {value.device}: pad batches before they are moved")
        have, shape = str(value.dtype).removeprefix("torch."), tuple(value.shape)
        target = self._target(shape)
        if target == shape and have == self.type:
            return value
        size = value.element_size()
        return self._write(value, _TORCH, target, shape, [s * size for s in value.stride()], have)

    def _write(self, value, kind, target, shape, strides, have):
        rank = len(target)
        sizes = ctypes.c_int64 * max(rank, 1)
        dims, inner, steps = sizes(*target), sizes(*shape), sizes(*strides)
        array = library.Array(kind.address(value), ctypes.addressof(inner), ctypes.addressof(steps))
        out = kind.empty(target, self.type, self.dtype)
        number = self.number if have == self.type else library.NUMBER.get(have, -1)
        if number < 0:
            _check(library.TYPE, self.name, self.type, have)
        _check(LIB.stet_batch_pad(kind.address(out), dims, rank, self.number, ctypes.byref(array), number, self.fill),
               self.name, self.type, have)
        return out

    def stack(self, rows):
        """A list of rows that differ in their first dimension, one on the other. Returns array and lengths."""
        tensor = bool(rows) and _is_tensor(rows[0])
        if tensor:
            rows = [r if r.is_contiguous() else r.contiguous() for r in rows]
            data, have = [r.data_ptr() for r in rows], str(rows[0].dtype).removeprefix("torch.")
        else:
            rows = [r if type(r) is np.ndarray and r.flags.c_contiguous else np.ascontiguousarray(_as_numpy(r)) for r in rows]
            data = [r.__array_interface__["data"][0] for r in rows]
            have = rows[0].dtype.name if rows else self.type
        lengths = [len(r) for r in rows]
        below = tuple(rows[0].shape[1:]) if rows else ()
        first = rows[0].dtype if rows else None
        if any(r.dtype != first or r.ndim != len(below) + 1 for r in rows) or (
                below and any(tuple(r.shape[1:]) != below for r in rows)):
            raise ValueError(f"rows of {self.name} differ in more than their length")
        target = self.leaf.target((len(rows), max(lengths, default=0)) + below, self.name)
        if target[2:] != below:
            raise ValueError(f"rows of {self.name} have sizes {below} below their length, {target[2:]} are wanted")
        kind = _TORCH if tensor else _NUMPY
        out, each = kind.empty(target, self.type, self.dtype), 1
        for n in below:
            each *= n
        count = (ctypes.c_int64 * max(len(rows), 1))(*lengths)
        number = self.number if have == self.type else library.NUMBER.get(have, -1)
        if number < 0:
            _check(library.TYPE, self.name, self.type, have)
        _check(LIB.stet_batch_rows(kind.address(out), target[0], target[1], each, self.number,
                                   (ctypes.c_void_p * max(len(rows), 1))(*data), count, len(rows), number, self.fill),
               self.name, self.type, have)
        return out, lengths

    def mask(self, target, lengths, tensor):
        """Ones where an array of `lengths` has elements of its own."""
        kind = _TORCH if tensor else _NUMPY
        out = kind.empty(target, self.type, self.dtype)
        _check(LIB.stet_batch_mask(kind.address(out), target[0], target[1], self.number,
                                   (ctypes.c_int64 * max(len(lengths), 1))(*lengths), len(lengths)),
               self.name, self.type, "a mask")
        return out


# ---- trees ----


def _is_row_list(value):
    """Rows: a list of arrays, or of lists of numbers."""
    if type(value) is np.ndarray or not isinstance(value, (list, tuple)) or not value:
        return False
    first = value[0]
    return hasattr(first, "shape") or hasattr(first, "__dlpack__") or (
        isinstance(first, (list, tuple)) and (not first or isinstance(first[0], (int, float))))


def _paths(names):
    """How an argument of the contract may be called in a batch: tokens, batch['tokens'] and batch.tokens are `tokens`."""
    for name in names:
        yield name, name
        last = name.rpartition("['")[2]
        if last != name and last.endswith("']"):
            yield last[:-2], name
        elif "." in name:
            yield name.rpartition(".")[2], name


class Canonical:
    """Callable: a batch in, a canonical batch out. `canonical()` puts one around a loader."""

    def __init__(self, spec, mask=None, optional=()):
        leaves, seen = {}, {}
        for short, name in _paths(spec):
            seen.setdefault(short, set()).add(name)
            leaves.setdefault(short, spec[name])
        self.ambiguous = {short for short, names in seen.items() if len({spec[n] for n in names}) > 1} | {
            short for short, leaf in leaves.items() if leaf is None}
        self.padders = {short: Padder(short, leaf) for short, leaf in leaves.items() if short not in self.ambiguous}
        self.mask, self.optional = dict(mask or {}), tuple(optional)
        self.masked = set(self.mask.values())
        self.simple = {name: padder for name, padder in self.padders.items() if name not in self.masked | set(self.mask)}
        for name, of in self.mask.items():
            if of not in self.padders:
                raise ValueError(f"mask {name}: there is no argument {of}")
            if name not in self.padders:
                self.padders[name] = Padder(name, Leaf("bool", self.padders[of].leaf.dims[:2]))
        for name in self.optional:
            if name not in self.padders:
                raise ValueError(f"optional {name}: there is no such argument")

    def _leaf(self, name, value):
        """The canonical array, and the lengths of its rows before padding where a mask needs them."""
        if name in self.ambiguous:
            raise ValueError(f"several functions have an argument {name} with other shapes: name one with function=")
        if _is_row_list(value):
            return self.padders[name].stack(value)
        out = self.padders[name].pad(value)
        if name not in self.masked:
            return out, None
        shape = np.shape(value)
        return out, [shape[1]] * shape[0] if len(shape) > 1 else [1] * (shape[0] if shape else 0)

    def __call__(self, batch):
        if hasattr(batch, "items"):
            return self._mapping(batch)
        if hasattr(batch, "_fields"):
            return type(batch)(**self._mapping(batch._asdict()))
        if isinstance(batch, (list, tuple)) and not _is_row_list(batch):
            return type(batch)(self(part) if self._is_tree(part) else part for part in batch)
        raise TypeError(f"a batch is a mapping of names to arrays, or a list of such; this is {type(batch).__name__}")

    @staticmethod
    def _is_tree(value):
        return hasattr(value, "items") or hasattr(value, "_fields") or isinstance(value, (list, tuple))

    def _mapping(self, batch):
        out, lengths, tensor = {}, {}, False
        for name, value in batch.items():
            if type(value) is np.ndarray and name in self.simple:  # the common case, without the questions below
                out[name], lengths[name] = self.simple[name].pad(value), None
                continue
            if name in self.mask:
                continue
            if value is None and name in self.optional:
                continue
            if name in self.padders or name in self.ambiguous:
                out[name], lengths[name] = self._leaf(name, value)
                tensor = tensor or _is_tensor(out[name])
            else:
                out[name] = self(value) if hasattr(value, "items") or hasattr(value, "_fields") else value
        if any(name not in out for name in self.optional):
            chosen = {(k, d): out[name].shape[k] for name in reversed(list(lengths))
                      for k, d in enumerate(self.padders[name].leaf.dims) if not isinstance(d, int)}
            for name in self.optional:
                if name not in out:
                    out[name], lengths[name] = self.padders[name].zeros(chosen, tensor), []
        for name, of in self.mask.items():
            if of in out:
                shape = tuple(out[of].shape)
                flat = shape[:2] if len(shape) > 1 else shape + (1,)
                made = self.padders[name].mask(flat, lengths[of], tensor)
                out[name] = made if len(shape) > 1 else made.reshape(shape)
        return out


class _Loader:
    """A loader whose batches are canonical. What it has besides (len, attributes) is the loader's own."""

    def __init__(self, loader, make):
        self._loader, self._make = loader, make

    def __iter__(self):
        make = self._make
        for batch in self._loader:
            yield make(batch)

    def __len__(self):
        return len(self._loader)

    def __getattr__(self, name):
        return getattr(self._loader, name)


def canonical(loader, contract=None, *, spec=None, function=None, mask=None, optional=()):
    """`loader` with batches that keep the contract: each array is padded to the smallest size that is allowed, and has
    the dtype that is allowed. An array that keeps it already is passed on as it is.

    contract  the file; or
    spec      name -> Leaf(dtype, dims, fill)
    function  the function of the contract whose arguments are meant
    mask      name of a mask -> name of the argument whose real elements it marks
    optional  names that a batch may lack (or have as None): they become zeros
    """
    if (contract is None) == (spec is None):
        raise TypeError("give contract= or spec=")
    if spec is None:
        spec = from_contract(contract, function)
    return _Loader(loader, Canonical(spec, mask, optional))
