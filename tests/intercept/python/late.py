"""Compiles that end at once: the thread that reads their stacks runs after them.

usage: late.py DRIVER PLUGIN
"""

import ctypes
import sys

released = ctypes.CDLL(sys.argv[1])
assert released.drive_open(sys.argv[2].encode())


def step(n):
    assert released.drive_compile(b"fake program p%d\n" % n)


for n in range(3):
    step(n)
