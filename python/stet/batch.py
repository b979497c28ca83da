"""Batches of fixed shapes and dtypes, so that a compiled function is not compiled again for each of them."""

import dataclasses
import re

import numpy as np

from . import batch_library as library
from .batch_array import Leaf, Padder, is_tensor


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


# ---- names ----


def _parts(name):
    """batch['inputs'].tokens is ("batch", "inputs", "tokens")."""
    found = re.findall(r"\['([^']*)'\]|\[(\d+)\]|([^.\[\]]+)", name)
    return tuple(a or b or c for a, b, c in found) or (name,)


def _shared(a, b):
    """How many of their last parts are equal."""
    n = 0
    while n < min(len(a), len(b)) and a[-1 - n] == b[-1 - n]:
        n += 1
    return n


class _Arguments:
    """The arguments of a spec, found by their place in a batch: by the last part of their name, and where several have
    the same last part, by the parts before it."""

    def __init__(self, spec):
        self.all, self.by_last, self.places = [], {}, {}
        for name, leaf in spec.items():
            parts = _parts(name)
            argument = (parts, leaf and Padder(parts[-1], leaf))
            self.all.append(argument)
            self.by_last.setdefault(parts[-1], []).append(argument)

    def at(self, place):
        """The Padder of the array at `place`; None for no argument."""
        if place not in self.places:
            best = max((_shared(parts, place) for parts, _ in self.by_last.get(place[-1], ())), default=0)
            found = [p for parts, p in self.by_last.get(place[-1], ()) if _shared(parts, place) == best]
            if None in found or len({p.leaf for p in found}) > 1:
                raise ValueError(f"several functions have an argument {place[-1]} with other shapes: name one with function=")
            self.places[place] = found[0] if found else None
        return self.places[place]

    def named(self, name):
        """The arguments that a user means by `name`: the last parts of their names, or all."""
        wanted = _parts(name)
        return [a for a in self.all if a[1] and _shared(a[0], wanted) == len(wanted)]


# ---- trees ----


def _is_array(value):
    return hasattr(value, "shape") or hasattr(value, "__dlpack__")


def _is_row_list(value):
    """Rows: a list of arrays, or of lists of numbers."""
    if type(value) is np.ndarray or not isinstance(value, (list, tuple)) or not value:
        return False
    first = value[0]
    return _is_array(first) or (
        isinstance(first, (list, tuple)) and (not first or isinstance(first[0], (int, float))))


def _fields(batch):
    """The names and values of a mapping, a named tuple or a dataclass; None for anything else."""
    if isinstance(batch, dict):
        return batch
    if dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        return {f.name: getattr(batch, f.name) for f in dataclasses.fields(batch) if f.init}
    if hasattr(batch, "_fields"):
        return batch._asdict()
    return batch if hasattr(batch, "items") else None


class _Node:
    """One mapping of a batch, while its arrays are made canonical."""

    def __init__(self, batch, place, parent):
        self.batch, self.place, self.parent = batch, place, parent
        self.out, self.lengths = {}, {}

    def build(self):
        """A batch of the same kind: a dict for a mapping."""
        kind = type(self.batch)
        if not dataclasses.is_dataclass(kind) and not hasattr(kind, "_fields"):
            return self.out
        unknown = self.out.keys() - _fields(self.batch).keys()
        if unknown:
            raise ValueError(f"{kind.__name__} has no field {sorted(unknown)[0]}")
        if dataclasses.is_dataclass(kind):
            return dataclasses.replace(self.batch, **self.out)
        return kind(**self.out)


class Canonical:
    """Callable: a batch in, a canonical batch out. `canonical()` puts one around a loader. `names` are those of the
    parts of a batch that is a tuple or a list."""

    def __init__(self, spec, mask=None, optional=(), names=()):
        self.names = tuple(names)
        self.arguments, self.mask, self.masks = _Arguments(spec), dict(mask or {}), {}
        self.masked = set(self.mask.values())
        for name, of in self.mask.items():
            masked, own = self.arguments.named(of), self.arguments.named(name)
            if not masked:
                raise ValueError(f"mask {name}: there is no argument {of}")
            self.masks[name] = own[0][1] if own else Padder(name, Leaf("bool", masked[0][1].leaf.dims[:2]))
        self.optional = []
        for name in optional:
            found = self.arguments.named(name)
            if not found:
                raise ValueError(f"optional {name}: there is no such argument")
            self.optional += found
        may_be_none = {parts[-1] for parts, _ in self.optional}
        self.simple = {last: found[0][1] for last, found in self.arguments.by_last.items()
                       if len(found) == 1 and found[0][1] and last not in self.masked | self.mask.keys() | may_be_none}
        self.may_be_none = may_be_none
        for name in (*self.mask, *may_be_none) if self.names else ():
            if name not in self.names:
                raise ValueError(f"names has no {name}: its place in names is its place in a batch")
        # A dict of plain arrays is the common case: nothing is absent, and nothing else is made.
        self.is_plain = not self.mask and not self.optional

    def __call__(self, batch, place=()):
        if type(batch) is dict and self.is_plain:
            out = {}
            for name, value in batch.items():
                if type(value) is not np.ndarray or name not in self.simple:
                    break
                out[name] = self.simple[name].pad(value)
            else:
                return out
        if _fields(batch) is not None:
            return self._tree(batch, place)
        if isinstance(batch, (list, tuple)):
            if self.names and not place:
                return self._parts(batch)
            if not any(_is_array(part) for part in batch) and not _is_row_list(batch):
                return type(batch)(self(part, place + (str(i),)) if self._is_tree(part) else part for i, part in enumerate(batch))
        elif len(self.names) == 1 and _is_array(batch):
            return self._parts([batch])[0]
        raise TypeError("a batch is a mapping of names to arrays, or a list of such; names= gives names to the parts of a tuple; "
                        f"this is {type(batch).__name__}")

    @staticmethod
    def _is_tree(value):
        return isinstance(value, (list, tuple)) or _fields(value) is not None

    def _parts(self, batch):
        """A tuple or a list whose parts have names. Masks and absent arrays get the places of their names."""
        if len(batch) > len(self.names):
            raise ValueError(f"a batch has {len(batch)} parts, and names has {len(self.names)}")
        out = self._tree(dict(zip(self.names, batch)), ())
        return type(batch)(out[name] for name in self.names if name in out)

    def _tree(self, batch, place):
        nodes, present = [], set()
        self._walk(batch, place, None, nodes, present)
        tensor = any(is_tensor(a) for node in nodes for name, a in node.out.items() if name in node.lengths)
        for parts, padder in self.optional:
            if padder not in present:
                self._add_absent(nodes, parts, padder, tensor)
        for node in nodes:
            for name, of in self.mask.items():
                if of in node.lengths:
                    node.out[name] = self.masks[name].mask(tuple(node.out[of].shape), node.lengths[of], tensor)
        for node in reversed(nodes[1:]):
            node.parent.out[node.place[-1]] = node.build()
        return nodes[0].build()

    def _walk(self, batch, place, parent, nodes, present):
        """Makes the arrays of `batch` and of the mappings in it canonical. `present` gets the arguments that it has."""
        node = _Node(batch, place, parent)
        nodes.append(node)
        for name, value in _fields(batch).items():
            where = place + (str(name),)
            if name in self.mask or (value is None and name in self.may_be_none):
                continue
            padder = self.arguments.at(where)
            if padder is not None:
                node.out[name], node.lengths[name] = self._leaf(padder, name, value)
                present.add(padder)
            elif _fields(value) is not None:
                node.out[name] = None  # keeps the order; its node fills it
                self._walk(value, place + (name,), node, nodes, present)
            else:
                node.out[name] = value

    def _leaf(self, padder, name, value):
        """The canonical array, and the lengths of its rows before padding where a mask needs them."""
        if value is None:
            raise ValueError(f"{name} is None: name it in optional= if a batch may lack it")
        if _is_row_list(value):
            return padder.stack(value)
        out = padder.pad(value)
        if name not in self.masked:
            return out, None
        shape = np.shape(value)
        return out, [shape[1]] * shape[0] if len(shape) > 1 else [1] * (shape[0] if shape else 0)

    def _add_absent(self, nodes, parts, padder, tensor):
        """Zeros in the mapping whose place is most like the argument's name, the outermost of equal ones. A field of
        a named tuple or dataclass is None there."""
        node = max(nodes, key=lambda n: _shared(tuple(map(str, n.place)), parts[:-1]))
        if parts[-1] in node.out:
            return
        chosen = {}
        for other in nodes:
            for name in other.lengths:
                for k, d in enumerate(self.arguments.at(tuple(map(str, other.place)) + (str(name),)).leaf.dims):
                    if not isinstance(d, int):
                        chosen.setdefault((k, d), other.out[name].shape[k])
        node.out[parts[-1]], node.lengths[parts[-1]] = padder.zeros(chosen, tensor), []


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
        if name in ("_loader", "_make"):  # not set yet, while copy and pickle make one
            raise AttributeError(name)
        return getattr(self._loader, name)


def _filled(spec, fill):
    """The spec with other elements to fill with."""
    names = _Arguments(spec)
    for name, element in fill.items():
        found = {parts for parts, _ in names.named(name)}
        if not found:
            raise ValueError(f"fill {name}: there is no such argument")
        spec = {n: dataclasses.replace(leaf, fill=element) if _parts(n) in found else leaf for n, leaf in spec.items()}
    return spec


def _renamed(spec, names):
    """The spec by the names that a batch has."""
    for name, argument in names.items():
        if argument not in spec:
            raise ValueError(f"names {name}: there is no argument {argument}")
    rest = {name: leaf for name, leaf in spec.items() if name not in names.values()}
    return {**rest, **{name: spec[argument] for name, argument in names.items()}}


def canonical(loader, contract=None, *, spec=None, function=None, names=(), mask=None, optional=(), fill=None):
    """`loader` with batches that keep the contract: each array is padded to the smallest size that is allowed, and has
    the dtype that is allowed. An array that keeps it already is passed on as it is.

    contract  the file; or
    spec      name -> Leaf(dtype, dims, fill)
    function  the function of the contract whose arguments are meant
    names     what the parts of a batch are called: a tuple, for batches that are tuples or lists of arrays; or a mapping,
              name in a batch -> name in the contract
    mask      name of a mask -> name of the argument whose real elements it marks
    optional  names that a batch may lack (or have as None): they become zeros
    fill      name -> what its padding is filled with, if not zeros
    """
    if (contract is None) == (spec is None):
        raise TypeError("give contract= or spec=")
    if spec is None:
        spec = from_contract(contract, function)
    if isinstance(names, dict):
        spec, names = _renamed(spec, names), ()
    return _Loader(loader, Canonical(_filled(spec, fill or {}), mask, optional, names))
