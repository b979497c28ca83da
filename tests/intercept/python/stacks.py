"""Compiles through the fake plugin in every way a framework might, for stacks.sh to look at.

usage: stacks.py DRIVER PLUGIN. The program's name says what its stack must look like.
"""

import ctypes
import sys
import threading
import weakref

released = ctypes.CDLL(sys.argv[1])  # gives the GIL away during a call
held = ctypes.PyDLL(sys.argv[1])  # keeps it
assert released.drive_open(sys.argv[2].encode())


def program(name):
    return b"fake program %s\n" % name.encode()


def own():
    assert released.drive_compile(program("own"))  # LINE own


def keeping():
    assert held.drive_compile(program("keeping"))  # LINE keeping


def compile_and_wait():
    assert released.drive_compile_on_worker(program("blocked"))  # LINE blocked


def elsewhere():
    assert released.drive_compile_on_worker(program("guess"))  # LINE guess


def stuck():
    # The compiling thread is not Python's, and the GIL stays away for all of the compile.
    assert held.drive_compile_on_worker(program("stuck"))


class Tensor:
    pass


def frames_are_let_go():
    t = Tensor()
    seen = weakref.ref(t)
    assert released.drive_compile(program("tensor"))
    assert seen() is not None
    return seen


stop = False


def busy():
    while not stop:
        sum(range(1000))


def in_thread():
    assert released.drive_compile(program("thread"))  # LINE thread


def deep(n):
    if n:
        return deep(n - 1)
    assert released.drive_compile(program("deep"))  # LINE deep


own()
keeping()
compile_and_wait()
elsewhere()
stuck()
ref = frames_are_let_go()
assert ref() is None, "a frame was kept alive"
deep(300)

hog = threading.Thread(target=busy, daemon=True)
hog.start()
worker = threading.Thread(target=in_thread, name="the worker")
worker.start()
worker.join()
stop = True
hog.join()

try:
    raise ValueError("pending")
except ValueError:
    held.drive_compile(program("handling"))  # LINE handling
released.drive_load(program("load"))  # LINE load
held.drive_load(program("load_held"))  # LINE load_held
print("fine")
