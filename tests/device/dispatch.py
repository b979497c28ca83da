"""What one jit dispatch costs: microseconds per call, the fastest tenth of many batches.

usage: dispatch.py [BATCHES]
"""

import sys
import time

import jax
import jax.numpy as jnp

BATCHES, CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 200, 400

f = jax.jit(lambda x, y: x * y + 1)
x, y = jnp.ones(16), jnp.ones(16)
f(x, y).block_until_ready()
times = []
for _ in range(BATCHES):
    start = time.perf_counter()
    for _ in range(CALLS):
        z = f(x, y)
    times.append((time.perf_counter() - start) / CALLS)
    z.block_until_ready()
times.sort()
print(f"{times[len(times) // 10] * 1e6:.3f}")
