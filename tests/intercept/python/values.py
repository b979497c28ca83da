"""Compiles through the fake plugin with known and with hostile values in its frames.

usage: values.py DRIVER PLUGIN FAKE_JAX_FOLDER. Prints "fine", or what went wrong.
"""

import collections
import ctypes
import functools
import gc
import sys
import weakref

sys.path.insert(0, sys.argv[3])
import wrappers
from jax._src import pjit

released = ctypes.CDLL(sys.argv[1])
assert released.drive_open(sys.argv[2].encode())
SCALE = 3
touched = []
JitInfo = collections.namedtuple("JitInfo", "static_argnums donate_argnums")
State = collections.namedtuple("State", "count mu")


class Plateau:
    def __init__(self):
        self.lr = 0.004
        self.fired = 1


class Point:
    __slots__ = ("x", "y", "unset")

    def __init__(self, x, y):
        self.x, self.y = x, y


def batches(sizes):
    for size in sizes:
        width = size * 2
        yield [0] * width


def known():
    plateau, mode, keep = Plateau(), "a long text with blanks", True
    total = 2**80
    point, bound = Point(3, [4]), functools.partial(pow, 2, mod=7)
    waiting = batches((5, 6))
    next(waiting)
    nested = {"k": [1, 2], 3: None}

    def step(batch, sweeps, train=True):
        return batch, sweeps, train, plateau, SCALE

    jitted = pjit.cache_miss_of(step, JitInfo((1,), ()), released.drive_compile, b"fake program known\n")
    state = State(7, -1.5)
    for number, batch in enumerate(batches((4, 8))):
        if number:
            assert jitted({"x": (4, 8)}, 2, state, train=False, mode="eval")
    return plateau, mode, keep, total, nested, point, bound, waiting


class Layer:
    def __init__(self, number):
        self.number, self.width, self.rate, self.bias, self.name = number, 64, 0.1, None, "a layer"
        self.weights = [number] * 100


class Noise:
    def __init__(self):
        self.strength = 0.25


class Block:
    def __init__(self):
        self.noise = Noise()


class Model:
    """Its thousand numbers and lists must not hide the one that is four objects away."""

    def __init__(self):
        self.layers = [Layer(i) for i in range(60)]
        self.block = Block()
        self.owner = self


class Trainer:
    def __init__(self):
        self.model = Model()
        self.losses = [0.5] * 1000


def scale_by(rate):
    step_size = -rate

    def update(grads):
        return step_size * grads

    return update


Transform = collections.namedtuple("Transform", "init update")


class Optimizer:
    """Of functions that close over functions, as optax's are."""

    def __init__(self, rate):
        functions = (len, scale_by(rate))

        def update(grads):
            return [f(grads) for f in functions]

        self.tx = Transform(len, update)
        self.apply = Noise().__init__


def deep():
    trainer, optimizer = Trainer(), Optimizer(0.125)
    again = trainer.model

    def learn(model, optimizer, batch):
        return model, optimizer, batch

    plain = pjit.cache_miss_of(learn, JitInfo((), ()), released.drive_compile, b"fake program closures\n")
    assert plain(optimizer, 3)
    taken = pjit.cache_miss_of(learn, JitInfo((), ()), released.drive_compile, b"fake program passed\n")
    assert wrappers.Jitted(taken)(trainer.model, Optimizer(0.5), batch=7)
    return again


class Evil:
    """Notes every way in which its code could run."""

    def __getattribute__(self, name):
        touched.append("getattribute " + name)
        raise RuntimeError

    def __getattr__(self, name):
        touched.append("getattr " + name)

    @property
    def __class__(self):
        touched.append("class")
        return dict

    @property
    def shape(self):
        touched.append("shape")

    aval = dtype = _sharding = weak_type = shape

    def special(name):
        def method(self, *args):
            touched.append(name)
            return NotImplemented

        return method

    for _name in ("len iter next eq lt bool int float index repr str format dir call enter contains getitem "
                  "array array_interface torch_function jax_array fspath del").split():
        locals()["__%s__" % _name] = special(_name)
    __hash__ = lambda self: touched.append("hash") or hash("__wrapped__")
    del special, _name


class Meta(type):
    def __getattribute__(cls, name):
        touched.append("meta " + name)
        return type.__getattribute__(cls, name)


class WithMeta(metaclass=Meta):
    pass


class nb_method:
    def __call__(self, *args):
        touched.append("nb_method")


class ArrayImpl:
    """Named as jaxlib's array, with getters of its own."""

    aval = property(nb_method())
    _sharding = aval
    __slots__ = ()


class Slotted:
    __slots__ = ("shape", "dtype")


class ndarray(list):
    shape = dtype = property(lambda self: touched.append("ndarray"))


class Int(int):
    def __int__(self):
        touched.append("int subclass")

    __index__ = __float__ = __int__


class Text(str):
    def encode(self, *a):
        touched.append("str subclass")

    __str__ = __repr__ = encode


class Named(tuple):
    _fields = Evil()

    def __getitem__(self, i):
        touched.append("tuple subclass")

    def __len__(self):
        touched.append("tuple len")
        return 99

    def __iter__(self):
        touched.append("tuple iter")


class Items(dict):
    def __getitem__(self, k):
        touched.append("dict subclass")

    keys = items = values = __iter__ = __len__ = __getitem__


class Wrapped:
    def __call__(self):
        touched.append("wrapped call")


def hostile():
    evil, with_meta, array, slotted = Evil(), WithMeta(), ArrayImpl(), Slotted()
    numpy_like, number, text, named = ndarray([1]), Int(5), Text("x"), Named((1, evil))
    items = Items(a=1)
    slotted.shape = evil
    cyclic = []
    cyclic.append(cyclic)
    deep = ()
    for _ in range(10000):
        deep = (deep,)
    huge = {i: i for i in range(100000)}
    keyed = {}
    dict.__setitem__(keyed, "a", 1)
    surrogate = "\udc80"
    plain = Plateau()
    object.__getattribute__(plain, "__dict__")[3] = evil
    unbound: int

    def step(*args, **kwargs):
        return evil, with_meta, SCALE

    step.__wrapped__ = Wrapped()
    step.__wrapped__.__wrapped__ = evil
    pieces = (evil, with_meta, WithMeta, array, slotted, numpy_like, number, text, named, items, cyclic, huge, keyed,
              surrogate, plain, Evil, evil)
    before = [sys.getrefcount(p) for p in pieces]
    del touched[:]
    jitted = pjit.cache_miss_of(step, evil, released.drive_compile, b"fake program hostile\n")
    jitted(*pieces, evil=evil, deep=deep)
    del jitted
    after = [sys.getrefcount(p) for p in pieces]
    assert before == after, ("references are kept", before, after)
    while deep:
        (deep,) = deep
    return list(touched)


def nothing_is_kept():
    """A local that was deleted is gone: no snapshot of the frame was left behind."""
    tensor = Plateau()
    seen = weakref.ref(tensor)
    assert released.drive_compile(b"fake program kept\n")
    del tensor
    gc.collect()
    return seen() is None


known()
deep()
notes = hostile()
assert not notes, "code of the user's ran: %s" % sorted(set(notes))
assert nothing_is_kept(), "a local was kept alive"
print("fine")
