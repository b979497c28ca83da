"""Compiles when Python can't be asked: in a subinterpreter's company, and after its end.

usage: ends.py DRIVER PLUGIN
"""

import ctypes
import sys

released = ctypes.CDLL(sys.argv[1])
assert released.drive_open(sys.argv[2].encode())
assert released.drive_compile(b"fake program before\n")
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
assert released.drive_compile(b"fake program with_subinterpreter\n")
interpreters.destroy(other)
assert released.drive_compile(b"fake program again_alone\n")
released.drive_compile_at_exit()
print("fine")
