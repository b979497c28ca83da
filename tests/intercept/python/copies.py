"""Copies vectors between host and device at known lines, then compiles.

usage: copies.py DRIVER PLUGIN FAKE_JAX_FOLDER. Prints "fine".
"""

import ctypes
import os
import sys
import threading
import time

sys.path.insert(0, sys.argv[3])
from jax._src import array

released, holding = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(sys.argv[1])
assert released.drive_open(sys.argv[2].encode())
assert released.drive_compile(b"fake program first\n")  # here the layout of frames is compared


def helper(seed):
    return array.value(released.drive_copy, 1, seed)  # line: helper


class Loader:
    def batches(self):
        for size in (2, 3):
            yield holding.drive_copy(size, 5)  # line: loader


def loop():
    for seed in (8, 9):
        if helper(seed):  # line: branch
            pass
    sizes = [s for s in Loader().batches()]  # line: comprehension
    assert released.drive_compile(b"fake program second\n")
    return sizes


made, over = threading.Event(), threading.Event()


def elsewhere():
    released.drive_copy(7, 1)  # line: elsewhere
    made.set()
    over.wait()


def load():
    released.drive_copy(6, 1)  # line: ended


def wait_for_end(thread):
    """Until the kernel has no such thread any more: Python's own join returns before it is over."""
    thread.join()
    while os.path.exists("/proc/self/task/%d" % thread.native_id):
        time.sleep(0.001)


loop()
for _ in range(3):
    short = threading.Thread(target=load)
    short.start()
    wait_for_end(short)
thread = threading.Thread(target=elsewhere)
thread.start()
made.wait()
exec(compile("released.drive_copy(1, 3)", "made_up.py", "exec"))  # line: exec
assert released.drive_compile_on_worker(b"fake program third\n")
over.set()
thread.join()
print("fine")
