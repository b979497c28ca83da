"""Compiles inside random nests of loops, conditions, `with` and `try`, whose iterators hold generators.

usage: loops.py DRIVER PLUGIN SEED ROUNDS. Prints for each compile, by its number, the loops that it is in; at the end
"fine". check_loops.py compares them with what the journal has: a wrong depth of the value stack would show a loop that
is over, miss one, or crash.
"""

import collections
import ctypes
import itertools
import random
import sys

SEED, ROUNDS = int(sys.argv[3]), int(sys.argv[4])
released, held = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(sys.argv[1])
assert released.drive_open(sys.argv[2].encode())
rng = random.Random(SEED)
number = 0


class Ends(Exception):
    pass


def numbers(mark):
    """A generator that is found by the value of `mark`."""
    size = mark * 2
    for turn in (1, 2):
        yield turn, size


class Reader:
    """An iterator of the user's that has a generator in a field."""

    def __init__(self, mark):
        self.source = numbers(mark)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.source)


class Items:
    def __init__(self, mark):
        self.mark = mark

    def __iter__(self):
        yield from numbers(self.mark)


class Slotted:
    __slots__ = ("mark",)

    def __init__(self, mark):
        self.mark = mark

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def compiled(loops):
    """Takes part in expressions; says which loops are around it."""
    global number
    (held if number % 3 == 0 else released).drive_compile(b"fake program loops%d\n" % number)
    print(number, *loops)
    number += 1
    return 1


WAYS = ["numbers({m})", "enumerate(numbers({m}))", "zip(range(9), numbers({m}))", "map(str, numbers({m}))",
        "itertools.islice(numbers({m}), 2)", "Reader({m})", "Items({m})", "iter(Items({m}))",
        "enumerate(itertools.chain(numbers({m}), ()))", "filter(None, numbers({m}))", "(x for x in numbers({m}))"]
CALLS = ["compiled({l})", "x = [1, 2][compiled({l}) - 1]", "x = 1 + compiled({l}) * 2", "x = dict(a=compiled({l}), *[])",
         "assert compiled({l}) and 1", "x = f'{{compiled({l})}}'", "x = max(3, compiled({l}), key=lambda v: v)",
         "print(end='' if compiled({l}) else ' ')", "x = {{1: compiled({l})}}[1]", "x = [compiled({l}) for _ in range(1)]",
         "x = (lambda: compiled({l}))()", "x, *y = compiled({l}), 2, 3", "x = compiled({l}) if y else compiled({l})"]


def block(indent, loops, depth, marks):
    pad = "    " * indent
    lines = []
    for _ in range(rng.randrange(1, 3)):
        kind = rng.randrange(9) if depth else 8
        mark = next(marks)
        inside = loops + [mark]
        if kind < 3:
            lines += [pad + "for x in %s:" % rng.choice(WAYS).format(m=mark)] + block(indent + 1, inside, depth - 1, marks)
            if rng.random() < 0.3:
                lines += [pad + "    " + rng.choice(["break", "continue"])]
            if rng.random() < 0.2:
                lines += [pad + "else:"] + block(indent + 1, loops, 0, marks)
        elif kind == 3:
            lines += [pad + "with Slotted(%d) as y:" % mark] + block(indent + 1, loops, depth - 1, marks)
        elif kind == 4:
            lines += [pad + "try:"] + block(indent + 1, loops, depth - 1, marks) + [pad + "finally:"] + block(indent + 1, loops, 0, marks)
        elif kind == 5:  # 0: in a handler the depth is not known
            lines += [pad + "try:", pad + "    raise Ends", pad + "except Ends:"] + block(indent + 1, [0], 0, marks)
        elif kind == 6:
            lines += [pad + "while compiled(%r):" % loops] + block(indent + 1, loops, depth - 1, marks) + [pad + "    break"]
        elif kind == 7:  # a `finally` that runs when the loop is left
            lines += [pad + "try:", pad + "    for x in numbers(%d):" % mark, pad + "        break", pad + "finally:"] + block(indent + 1, loops, 0, marks)
        else:
            lines += [pad + rng.choice(CALLS).format(l=loops)]
    return lines


for _ in range(ROUNDS):
    body = block(1, [], 4, itertools.count(1))
    source = "\n".join(["def nest():", "    x = y = 1"] + body) + "\n"
    space = dict(globals())
    exec(compile(source, "nest.py", "exec"), space)
    space["nest"]()
print("fine")
