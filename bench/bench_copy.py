"""What the layer adds to reading one number back from a plugin that does nothing, in a Python thread.

Prints a JSON object a line, as bench.h does. Processes with and without the layer take turns; each gives the median of
its rounds. The lines of Python that ask for the copy are eight frames of a library deep, as in JAX.
"""
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LIB = os.path.join(ROOT, "build", "release", "lib")
BARE = os.path.join(LIB, "libfake_pjrt_bare.so")
PROCESSES, ROUNDS, COPIES = 9, 101, 1000


def child():
    driver = ctypes.CDLL(os.path.join(LIB, "libguest_driver.so"))
    driver.drive_time_copies.restype = ctypes.c_double
    assert driver.drive_open(sys.argv[2].encode())
    assert driver.drive_compile(b"fake program first\n")
    scope = {}
    for depth in range(8):
        exec(compile(f"def f{depth}(n):\n    return g(n)\n", f"/x/site-packages/jax/{depth}.py", "exec"),
             dict(g=scope[f"f{depth - 1}"] if depth else driver.drive_time_copies), scope)
    scope["f7"](COPIES)
    print(statistics.median(scope["f7"](COPIES) for _ in range(ROUNDS)))


def once(plugin, **environment):
    with tempfile.TemporaryDirectory() as state:
        env = dict(os.environ, STET_STATE_DIR=state, **environment)
        return float(subprocess.run([sys.executable, __file__, "child", plugin], env=env, check=True, capture_output=True, text=True).stdout)


def main():
    bare, added = [], []
    for _ in range(PROCESSES):
        bare.append(once(BARE))
        added.append(once(os.path.join(LIB, "libstet_plugin.so"), STET_PLUGIN=BARE) - bare[-1])
    added.sort()
    print(json.dumps(dict(bench="layer.copy.added.one-number", unit="ns", value=round(statistics.median(added), 1), p10=round(added[0], 1),
                          p90=round(added[-1], 1), against="the bare call", baseline=round(statistics.median(bare), 1), limit=1000)))


if __name__ == "__main__":
    child() if sys.argv[1:2] == ["child"] else main()
