"""A pool of threads compiles at the same time.

usage: together.py DRIVER PLUGIN THREADS
"""

import ctypes
import sys
import threading

released = ctypes.CDLL(sys.argv[1])
assert released.drive_open(sys.argv[2].encode())
threads = int(sys.argv[3])
start = threading.Barrier(threads)


def step(n):
    start.wait()
    assert released.drive_compile(b"fake program p%d\n" % n)


pool = [threading.Thread(target=step, args=(n,)) for n in range(threads)]
for thread in pool:
    thread.start()
for thread in pool:
    thread.join()
