"""What the layer adds to a dispatch: the entry of the framework's table is switched, stretch by
stretch, between the layer's function and the plugin's own, in one process.

Run under `stet run`. Processes differ by more than the layer costs, so two of them can't
be compared.
"""

import ctypes
import json
import mmap
import statistics
import struct
import time

import jax
import jax.numpy as jnp

EXECUTE = 480  # offset of PJRT_LoadedExecutable_Execute in the table, every API version


def symbol(path, wanted):
    """Address of a dynamic symbol in a file."""
    with open(path, "rb") as f:
        m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    (shoff,) = struct.unpack_from("<Q", m, 0x28)
    size, count = struct.unpack_from("<HH", m, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", m, shoff + i * size) for i in range(count)]
    for s in sections:
        if s[1] != 11:  # SHT_DYNSYM
            continue
        names = sections[s[6]][4]
        for at in range(s[4], s[4] + s[5], 24):
            name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", m, at)
            if m[names + name : names + name + len(wanted) + 1] == wanted + b"\0":
                return value
    raise LookupError(wanted)


def loaded(part):
    """Path and first address of the loaded object whose path holds `part`."""
    with open("/proc/self/maps") as f:
        for line in f:
            if part in line:
                return line.split()[-1], int(line.split("-")[0], 16)
    raise LookupError(part)


f = jax.jit(lambda x: x + 1)
x = f(jnp.zeros(8)).block_until_ready()
path, base = loaded("xla_cuda_plugin")
api = ctypes.CFUNCTYPE(ctypes.c_void_p)
real = ctypes.c_void_p.from_address(api(base + symbol(path, b"GetPjrtApi"))() + EXECUTE).value
ours_at = api(("GetPjrtApi", ctypes.CDLL(path)))() + EXECUTE  # by dlsym: what the framework got
entry = ctypes.c_void_p.from_address(ours_at)
ours = entry.value
assert ours != real, "the layer is not there"


def stretch():
    begin = time.perf_counter()
    for _ in range(100):
        y = f(x)
    took = (time.perf_counter() - begin) / 100 * 1e6
    y.block_until_ready()
    return took


times = {ours: [], real: []}
for _ in range(50):
    stretch()
for i in range(2000):
    for which in (ours, real) if i % 2 else (real, ours):
        entry.value = which
        times[which].append(stretch())
bare, layer = statistics.median(times[real]), statistics.median(times[ours])
pairs = statistics.median(a - b for a, b in zip(times[ours], times[real]))
print(json.dumps({"bare_us": bare, "layer_us": layer, "paired_difference_ns": pairs * 1000,
                  "paired_percent": pairs / bare * 100}))
