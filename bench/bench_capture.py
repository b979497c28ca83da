"""What reading Python's stack and values costs a compile, and how long the interpreter's lock is held for it.

Prints a JSON object a line, as bench.h does. The plugin does nothing, so the compile's own time is the layer's. Processes with
and without the layer take turns. For the processor time the caller keeps the lock, so that it reads everything itself; for the
time with the lock it releases it, as frameworks do, and a thread of the layer's takes it twice. The stack is that of a training loop under JAX: 30 frames, ten of them the user's with 200
locals in all, two of these in a loop over a generator that takes from another one, and a call whose argument tree has
jax.Array leaves.
"""
import collections
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
LAYER = os.path.join(LIB, "libstet_plugin.so")
DUMP = os.path.join(ROOT, "build", "release", "bin", "journal_dump")
PROCESSES, COMPILES = 3, 400
USER_FRAMES, LIBRARY_FRAMES, LOCALS = 10, 17, 20  # and three of pjit.py
LEAVES = {"lifelike": 500, "large": 5000}

Adam = collections.namedtuple("Adam", "count mu nu")
JitInfo = collections.namedtuple("JitInfo", "static_argnums donate_argnums")


class Config:
    def __init__(self):
        self.lr, self.steps, self.name, self.train, self.sizes = 0.004, 100, "a model of some kind", True, [64, 64, 10]


def tree(leaves, array):
    """Layers of four arrays each, as flax nests them, and an optimiser's state of the same form."""
    layers = {}
    for i in range(leaves // 12):
        layers["layer_%d" % i] = {"kernel": array(i), "bias": array(i + 1), "norm": {"scale": array(i), "offset": array(i)}}
    params = {"params": layers}
    return params, Adam(array(0), params, params)


def call_of(compile):
    """A user's step below frames of JAX, inside frames of the user's and of a library."""
    scope = {"compile": compile}
    with open(os.path.join(ROOT, "tests", "intercept", "python", "site-packages", "jax", "_src", "pjit.py")) as f:
        exec(__builtins__.compile(f.read(), "/x/site-packages/jax/_src/pjit.py", "exec"), scope)
    return scope["cache_miss_of"]


LOADER = """
def rows(count):
    for row in range(count):
        yield {"x": row, "y": row * 2}

def batches(source, size):
    held = []
    for row in source:
        held.append(row)
        if len(held) == size:
            yield held
"""


def nested(inner, name, count, file, body, loops=0):
    for i in range(count):
        scope = {"inner": inner, "Config": Config, "SCALE": 3}
        call = "    return inner(array)\n"
        if i < loops:
            exec(compile(LOADER, file, "exec"), scope)
            call = "    for turn, batch in enumerate(batches(rows(100), 8)):\n        return inner(array)\n"
        exec(compile(f"def {name}{i}(array):\n{body}{call}", file, "exec"), scope)
        inner = scope[f"{name}{i}"]
    return inner


def child(plugin, leaves, kind):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_platforms", "cpu")
    driver = (ctypes.PyDLL if kind == "keeps" else ctypes.CDLL)(os.path.join(LIB, "libguest_driver.so"))
    driver.drive_time_compile.restype = ctypes.c_double
    assert driver.drive_open(plugin.encode())
    arrays = [jnp.zeros((8 + i, 16)) for i in range(8)]
    params, state = tree(leaves, lambda i: arrays[i % 8])
    scale = 2.0

    def step(params, state, batch, train):
        return params, state, batch, train, scale

    jitted = call_of(driver.drive_time_compile)(step, JitInfo((3,), (0, 1)), driver.drive_time_compile, b"fake program step\n")

    def run(array):
        return jitted(params, state, {"x": array, "y": array}, True)

    library = nested(run, "lib", LIBRARY_FRAMES, "/x/site-packages/flax/core.py", "")
    values = ["i", "i * 0.5", "'word'", "array", "None", "True", "(i, 2)", "Config()", "{'a': i, 'b': [1, 2]}", "SCALE"]
    body = "    i = 7\n" + "".join(f"    local_{k} = {values[k % len(values)]}\n" for k in range(LOCALS - 2))
    program = nested(library, "user", USER_FRAMES, "/home/x/train.py", body, loops=2)
    print(json.dumps([program(arrays[0]) for _ in range(COMPILES)][20:]))


def once(plugin, leaves, kind, **environment):
    with tempfile.TemporaryDirectory() as state:
        env = dict(os.environ, STET_STATE_DIR=state, STET_DIR=state + "/run", JAX_PLATFORMS="cpu", **environment)
        out = subprocess.run([sys.executable, __file__, "child", plugin, str(leaves), kind], env=env, check=True, capture_output=True,
                             text=True)
        records = subprocess.run([DUMP, state + "/run"], capture_output=True, text=True).stdout.splitlines() if environment else []
        held = {r.get("index", 0): r["held_ns"] for r in map(json.loads, records) if r["record"] == "compile_values"}
        return json.loads(out.stdout), [held[i] for i in sorted(held)][20:]


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def row(name, ns, baseline, limit, worst):
    """The median beside its limit, and the 99th percentile beside its own: None where other programs decide it."""
    ms = [v / 1e6 for v in ns]
    for suffix, q, most in (("", 0.5, limit), (".p99", 0.99, worst)):
        print(json.dumps(dict(bench=name + suffix, unit="ms", value=round(quantile(ms, q), 4), p10=round(quantile(ms, 0.1), 4),
                              p90=round(quantile(ms, 0.9), 4), against="the bare call", baseline=round(baseline / 1e6, 4), limit=most)))


def main():
    for name, leaves in LEAVES.items():
        added, held, bare = [], [], []
        for _ in range(PROCESSES):
            mine, _ = once(BARE, leaves, "keeps")
            bare += mine
            all_, _ = once(LAYER, leaves, "keeps", STET_PLUGIN=BARE)
            added += [ns - statistics.median(mine) for ns in all_]
            held += once(LAYER, leaves, "releases", STET_PLUGIN=BARE)[1]
        row(f"layer.capture.added.{name}", added, statistics.median(bare), 0.3, 0.3)
        row(f"layer.capture.lock-held.{name}", held, 0, 0.1, None)


if __name__ == "__main__":
    child(sys.argv[2], int(sys.argv[3]), sys.argv[4]) if sys.argv[1:2] == ["child"] else main()
