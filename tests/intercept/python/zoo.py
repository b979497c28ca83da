"""Compiles with random graphs of hostile objects in its frames: none of their code may run, and nothing may be kept.

usage: zoo.py DRIVER PLUGIN FAKE_JAX_FOLDER SEED ROUNDS. Prints "fine", or what went wrong and the seed to see it again.
"""

import asyncio
import collections
import ctypes
import enum
import functools
import gc
import itertools
import random
import sys
import threading
import types
import weakref

sys.path.insert(0, sys.argv[3])
from jax._src import pjit

SEED, ROUNDS = int(sys.argv[4]), int(sys.argv[5])
released, held = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(sys.argv[1])
assert released.drive_open(sys.argv[2].encode())
rng = random.Random(SEED)
touched = []
armed = False

# What the layer looks for by name, in instances and types.
ATTRIBUTES = ("aval shape dtype weak_type _sharding type fget func fun f _fields __wrapped__ _ident _native_id _name "
              "co_name co_filename args kwargs jit_info").split()
SPECIAL = ("len iter next eq ne lt bool int float index complex repr str bytes format dir call enter exit contains getitem "
           "missing setattr delattr get array array_interface torch_function jax_array fspath length_hint reversed "
           "instancecheck subclasscheck mro_entries").split()
TYPE_NAMES = ("ArrayImpl ndarray Tensor Parameter nb_method float32 int64 float64 partial dict str WrappedFun x" + "x" * 300).split()
BASES = [object, object, dict, list, tuple, int, str, float, set, frozenset, bytes, complex, Exception, types.ModuleType,
         collections.OrderedDict, collections.UserDict, collections.deque, types.SimpleNamespace, threading.local]


def note(what):
    if armed:
        touched.append(what)


def hostile(name):
    def method(self, *args, **kwargs):
        note(name)
        raise RuntimeError(name)

    return method


def getting(getattribute, where):
    """Answers as long as nothing is armed: the zoo itself needs its objects."""

    def method(self, name):
        note(where + name)
        return getattribute(self, name)

    return method


class Getter:
    """A data descriptor of the user's."""

    def __get__(self, o, t=None):
        note("descriptor")
        raise RuntimeError

    def __set__(self, o, v):
        raise RuntimeError


class Meta(type):
    __getattribute__ = getting(type.__getattribute__, "meta ")
    __call__ = lambda cls, *a, **k: note("meta call") or type.__call__(cls, *a, **k)
    __instancecheck__ = __subclasscheck__ = lambda cls, o: note("instancecheck") or False
    __eq__ = lambda cls, o: note("meta eq") or cls is o
    __hash__ = lambda cls: note("meta hash") or id(cls)
    __name__ = property(lambda cls: note("meta name") or "ndarray")


def make_class():
    base = rng.choice(BASES)
    space = {}
    for name in rng.sample(SPECIAL, rng.randrange(len(SPECIAL))):
        if name not in ("mro_entries",):
            space["__%s__" % name] = hostile(name)
    for name in rng.sample(ATTRIBUTES, rng.randrange(6)):
        space[name] = rng.choice([property(hostile("property " + name)), Getter(), hostile(name), ("a", "b"), 5])
    if rng.random() < 0.5:
        space["__getattribute__"] = getting(base.__getattribute__, "getattribute ")
    if rng.random() < 0.3:
        space["__getattr__"] = hostile("getattr")
    if rng.random() < 0.3:
        space["__class__"] = property(lambda self: note("class") or dict)
    if rng.random() < 0.2:
        space["__dict__"] = property(hostile("dict property"))
    if rng.random() < 0.2 and base in (object, Exception):
        space["__slots__"] = tuple(n for n in ATTRIBUTES[:8] if n not in space)
    if "__eq__" in space or rng.random() < 0.3:
        space["__hash__"] = lambda self: note("hash") or hash("__wrapped__")
    space["__del__"] = lambda self: note("del")
    name = rng.choice(TYPE_NAMES)
    try:
        return (Meta if rng.random() < 0.3 else type)(name, (base,), space)
    except TypeError:  # these do not go together
        return make_class()


def make_instance(cls):
    base = next(b for b in type.__getattribute__(cls, "__mro__") if b in BASES)
    arguments = {list: ([1, 2],), tuple: ((1, 2),), dict: ({"a": 1},), int: (5,), str: ("text",), types.ModuleType: ("m",),
                 collections.OrderedDict: ([("a", 1)],)}.get(base, ())
    try:
        o = base.__new__(cls, *arguments)
        if base in (list, dict, collections.OrderedDict, types.ModuleType):
            base.__init__(o, *arguments)
        return o
    except Exception:  # its own code is in the way
        return cls


def fill(o, depth):
    """Gives an instance fields, some under names that the layer asks for."""
    for name in ATTRIBUTES[:8]:  # slots, where it has any
        try:
            object.__setattr__(o, name, thing(depth - 1))
        except Exception:
            pass
    try:
        fields = object.__getattribute__(o, "__dict__")
        if type(fields) is dict:
            for name in rng.sample(ATTRIBUTES, 4) + ["lr", "steps"]:
                fields[name] = thing(depth - 1)
            if rng.random() < 0.3:
                fields[rng.choice([3, None, (1,), Key()])] = thing(depth - 1)
    except Exception:
        pass
    return o


class Key:
    """A key with the hash of a name that might be looked up."""

    def __hash__(self):
        return hash("__wrapped__")

    def __eq__(self, other):
        note("key eq")
        return self is other


class TextKey(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        note("str key eq")
        return str.__eq__(self, other)


class Color(enum.Enum):
    RED = 1


class Lazy(types.ModuleType):
    __getattribute__ = getting(types.ModuleType.__getattribute__, "module ")


def generator(value):
    inner = value
    yield inner
    yield value


async def coroutine(value):
    await asyncio.sleep(0)
    return value


async def async_generator(value):
    yield value


def started(g):
    next(g)
    return g


def finished_frame():
    try:
        raise ValueError
    except ValueError as e:
        return e.__traceback__.tb_frame, e


def function(depth):
    captured = thing(depth - 1)

    def inner(a, *args, b=3, **kwargs):
        return captured, a

    for name in rng.sample(ATTRIBUTES, 3):
        inner.__dict__[name] = thing(depth - 1)
    choice = rng.randrange(6)
    if choice == 0:
        inner.__wrapped__ = inner  # a cycle
    elif choice == 1:
        inner.__dict__[TextKey("__wrapped__")] = thing(depth - 1)
    elif choice == 2:
        inner = types.FunctionType(inner.__code__, dict({Key(): 1, "captured": thing(depth - 1)}), "f", None, inner.__closure__)
    elif choice == 3:
        inner = elsewhere(inner)
    return inner


def elsewhere(function):
    """The same function, from a file and under a name that are no ordinary text."""
    names = ["\udc80", TextKey("f.py"), "x" * 5000, "/a/site-packages/" + "\u00e9" * 40, "", "<module>"]
    code = function.__code__.replace(co_filename=rng.choice(names), co_name=rng.choice(names))
    return types.FunctionType(code, function.__globals__, "f", None, function.__closure__)


def method(depth):
    """Of a function, or of any object that can be called."""
    called = make_class()
    return types.MethodType(rng.choice([function(depth), called, len]), [thing(depth - 1)])


def empty_cell():
    if False:
        value = 1
    return (lambda: value).__closure__[0]


def huge():
    kind = rng.randrange(4)
    if kind == 0:
        return {i: i for i in range(50000)}
    if kind == 1:
        d = {i: i for i in range(50000)}
        for i in range(49999):
            del d[i]
        return d
    if kind == 2:
        return list(range(50000))
    deep = []
    for _ in range(5000):
        deep = [deep]
    return deep


def long_paths(depth):
    """Keys whose path becomes longer than any path that is kept, at every place of it."""
    table = thing(depth - 1)
    for i in range(8):
        table = {"k" * rng.randrange(70): table, "\u00e9" * rng.randrange(40): [i], -(10**rng.randrange(18)): None}
    return table


def cyclic(depth):
    items, table = [], {}
    items += [table, items, thing(depth - 1)]
    table.update(me=table, items=items)
    return rng.choice([items, table, (items, table)])


def arrays():
    """Of numpy, and of a class derived from it, where it is installed."""
    try:
        import numpy
    except ImportError:
        return None
    derived = type("ndarray", (numpy.ndarray,), {
        "shape": property(hostile("ndarray shape")), "dtype": property(hostile("ndarray dtype")),
        "__array_finalize__": lambda self, o: None, "__getattribute__": getting(numpy.ndarray.__getattribute__, "ndarray ")})
    return rng.choice([numpy.ones((2, 3)), numpy.float32(2.5), numpy.int64(7), numpy.ones(4).view(derived), numpy.dtype("f4"),
                       numpy.array([object()], dtype=object), numpy.zeros((3,), dtype=[("a", "i4"), ("b", "f8")])])


def iterators(depth):
    """Of the library, around generators and around anything."""
    inner = rng.choice([generator(thing(depth - 1)), started(generator(thing(depth - 1))), iter([thing(depth - 1)])])
    return rng.choice([enumerate, zip, reversed, itertools.cycle, itertools.tee, itertools.chain,
                       lambda it: map(hostile("map"), it), lambda it: filter(hostile("filter"), it), lambda it: itertools.islice(it, 3),
                       lambda it: iter(hostile("sentinel"), it), lambda it: itertools.groupby(it, hostile("groupby")),
                       lambda it: functools.partial(hostile("partial"), it, key=thing(depth - 1))])(
        inner if rng.random() < 0.8 else [thing(depth - 1)])


keepers = []  # what weak references point to


def weak(depth):
    o = fill(make_instance(make_class()), depth)
    try:
        alive, dead = weakref.proxy(o), weakref.ref(make_instance(type("Gone", (), {})))
    except TypeError:
        return None
    keepers.append(o)
    return rng.choice([alive, weakref.ref(o), dead])


def in_iterators(depth):
    try:
        return iterators(depth)
    except TypeError:  # these cannot be reversed
        return None


def thing(depth):
    if depth <= 0:
        return rng.choice([1, 2.5, None, True, "word", 2**90, float("nan"), "\udc80", b"x", Color.RED, (), ...])
    some = rng.randrange(29)
    if some < 7:
        cls = make_class()
        return cls if rng.random() < 0.1 else fill(make_instance(cls), depth)
    return (lambda: [thing(depth - 1) for _ in range(rng.randrange(5))], lambda: tuple(thing(depth - 1) for _ in range(3)),
            lambda: {"k": thing(depth - 1), Key(): 1, TextKey("t"): thing(depth - 1), 7: None}, lambda: function(depth),
            lambda: method(depth),
            lambda: functools.partial(function(depth), thing(depth - 1)), lambda: generator(thing(depth - 1)),
            lambda: started(generator(thing(depth - 1))), lambda: async_generator(thing(depth - 1)), finished_frame,
            lambda: weak(depth), lambda: Lazy("lazy"), lambda: types.SimpleNamespace(a=thing(depth - 1)), huge,
            lambda: cyclic(depth), arrays, empty_cell, lambda: types.MappingProxyType({"a": thing(depth - 1)}),
            lambda: collections.namedtuple("N", "a b")(thing(depth - 1), 2), lambda: in_iterators(depth),
            lambda: functools.partial(function(depth), thing(depth - 1), key=thing(depth - 1)),
            lambda: long_paths(depth))[some - 7]()


class Worker(threading.Thread):
    """A thread whose class watches every access, and that changes what is being read."""

    def __init__(self, shared):
        super().__init__(daemon=True, name="changes things")
        self.__dict__.update(shared=shared, over=False)

    def run(self):
        own = self.__dict__
        shared, n = own["shared"], 0
        while not own["over"]:
            n += 1
            for s in shared:
                if type(s) is dict:
                    s.clear() if n % 7 == 0 else s.update({n % 50: [n], str(n % 90): {}})
                elif type(s) is list:
                    s.clear() if n % 5 == 0 else s.append((n, {n: n}))
                else:
                    s.__dict__["field%d" % (n % 40)] = [n]
                    s.__dict__.pop("field%d" % ((n + 7) % 40), None)

    __getattribute__ = getting(threading.Thread.__getattribute__, "thread ")


class Plain:
    pass


SHARED = (type(None), bool, int, float, str, bytes, tuple, type(...), Color)  # others use these objects too


def compile_with(pieces, fun, info, compile, name):
    """Locals, cells and arguments of a user's frame are all hostile; refcounts are the same before and after."""
    global armed
    a, b, c = pieces[0], pieces[1], pieces[-1]
    inner = lambda: (a, b)
    jitted = pjit.cache_miss_of(fun, info, compile, b"fake program %s\n" % name)
    keywords = {"k%d" % i: p for i, p in enumerate(pieces[:4])}
    counted = [p for p in pieces if type(p) not in SHARED]
    before = [sys.getrefcount(p) for p in counted]
    gc.disable()
    for loop in (started(generator(pieces)), enumerate(started(generator(c)))):
        for _ in loop:
            armed = True
            jitted(*pieces, **keywords)
            armed = False
    del loop, _
    gc.enable()
    after = [sys.getrefcount(p) for p in counted]
    assert before == after, "references are kept: %s" % [(type.__repr__(type(p)), x, y) for p, x, y in zip(counted, before, after) if x != y]
    return inner, c


def in_generator(*args):
    yield compile_with(*args)


async def in_coroutine(*args):
    return compile_with(*args)


class Method:
    __slots__ = ("kept",)

    def call(self, *args):
        self.kept = args
        return compile_with(*args)


def once(number, compile):
    pieces = [thing(3) for _ in range(6)]
    args = (pieces, rng.choice([function(2), fill(make_instance(make_class()), 2), functools.partial(function(2), 1), method(2)]),
            [thing(2)], compile, b"zoo%d" % number)
    way = rng.randrange(5)
    if way == 0:
        compile_with(*args)
    elif way == 1:
        next(in_generator(*args))
    elif way == 2:
        try:
            in_coroutine(*args).send(None)
        except StopIteration:
            pass
    elif way == 3:
        elsewhere(compile_with)(*args)
    else:
        Method().call(*args)
    assert not touched, "code of the user's ran: %s" % sorted(set(touched))
    del keepers[:]


def while_threads_change(number):
    """Memory safety only: the other threads' own code runs all the time."""
    shared = [{}, [], Plain(), {"inner": {}}]
    workers = [Worker(shared) for _ in range(2)]
    for w in workers:
        w.start()
    fun = function(1)
    for i in range(3):
        pjit.cache_miss_of(fun, (), released.drive_compile, b"fake program shared%d\n" % (number * 3 + i))(*shared)
    global armed
    armed = True  # a look for the thread's name must not go through the class
    released.drive_compile_on_worker(b"fake program worker%d\n" % number)
    armed = False
    for w in workers:
        w.__dict__["over"] = True
    for w in workers:
        w.join()
    mine = [t for t in touched if t.startswith("thread ")]
    del touched[:]
    assert not mine, mine


def main():
    for number in range(ROUNDS):
        once(number, held.drive_compile if number % 3 == 0 else released.drive_compile)
        if number % 20 == 10:
            while_threads_change(number)
    print("fine")


try:
    main()
except BaseException:
    print("seed %d of Python %s" % (SEED, sys.version.split()[0]))
    armed = False
    raise
