"""What JAX knows of platforms by their names, on the one it runs on: prints what it found as JSON.

Callbacks from every kind of place, donation, factorisations that JAX lowers by platform, integers of four bits."""
import json
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import io_callback

found = {"platform": jax.default_backend()}
x = jnp.arange(6.0).reshape(2, 3)
like = jax.ShapeDtypeStruct(x.shape, x.dtype)


def same(name, got, want, tolerance=1e-5):
    found[name] = bool(np.allclose(np.asarray(got), np.asarray(want), tolerance, tolerance))


# Callbacks.
same("pure", jax.jit(lambda v: jax.pure_callback(np.sin, like, v) * 2)(x), np.sin(x) * 2)
one = jax.ShapeDtypeStruct((), np.float32)
double = lambda v: jax.pure_callback(lambda a: np.float32(a * 2), one, v)
same("in a loop", lax.scan(lambda c, v: (c + double(v), c), 0.0, x[0])[0], 6)
same("in a condition", lax.while_loop(lambda n: jax.pure_callback(lambda v: np.bool_(v < 5), jax.ShapeDtypeStruct((), bool), n),
                                      lambda n: n + 1, 0), 5)
same("of nothing", jax.jit(lambda: jax.pure_callback(lambda: np.float32(7), one))(), 7)
here = jax.devices()[0]
same("on this device", jax.jit(lambda v: jax.pure_callback(lambda a: np.asarray(jax.device_put(a, here) + 1), like, v))(x), x + 1)
seen = []


@jax.jit
def tell(v, p):
    for k in range(3):
        io_callback(lambda a, k=k: seen.append(k), None, v, ordered=True)
    lax.cond(p, lambda: jax.debug.callback(lambda: seen.append("branch")), lambda: None)
    jax.debug.print("sum {}", v.sum())
    return v


tell(x, True), tell(x, False)
jax.effects_barrier()
found["ordered"] = [s for s in seen if s != "branch"]
found["branches"] = seen.count("branch")


def fail(a):
    raise ValueError("the callback's own words")


try:
    jax.jit(lambda v: jax.pure_callback(fail, like, v))(x).block_until_ready()
except jax.errors.JaxRuntimeError as error:
    found["failure"] = "ValueError: the callback's own words" in str(error)
shift = jax.jit(lambda v, i: jax.pure_callback(lambda a: np.asarray(a) + 1, like, v * i))
results = [None] * 4
threads = [threading.Thread(target=lambda i=i: results.__setitem__(i, np.asarray(shift(x, i)))) for i in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
same("from threads", np.stack(results), np.stack([x * i + 1 for i in range(4)]))

# Donation: the argument is gone, the result lies where it lay.
y = jnp.ones((64, 64)).block_until_ready()
place = y.unsafe_buffer_pointer()
z = jax.jit(lambda a: a + 1, donate_argnums=0)(y)
found["donated"] = [y.is_deleted(), z.unsafe_buffer_pointer() == place]

# The host's memory: there and back, out of a program, into one, and for what a backward pass needs.
host, device = (jax.sharding.SingleDeviceSharding(here, memory_kind=k) for k in ("pinned_host", "device"))
before = here.memory_stats()["bytes_in_use"]
y = jax.device_put(np.ones((64, 64), np.float32), host)
found["in the host's memory"] = y.sharding.memory_kind == "pinned_host" and here.memory_stats()["bytes_in_use"] <= before
p, q = jax.jit(lambda a: (a * 2, a + 1), out_shardings=(host, device))(jax.device_put(y, device))
found["results' memories"] = [p.sharding.memory_kind, q.sharding.memory_kind]
same("from the host's memory", jax.jit(lambda a: jax.device_put(a, device) + 1, in_shardings=host)(p), np.full((64, 64), 3))
policy = jax.checkpoint_policies.save_and_offload_only_these_names(
    names_which_can_be_saved=[], names_which_can_be_offloaded=["a"], offload_src="device", offload_dst="pinned_host")
layer = lambda v: jnp.sin(checkpoint_name(v @ v.T, "a")).sum()
same("offloaded", jax.jit(jax.grad(jax.checkpoint(layer, policy=policy)))(x), jax.grad(layer)(x))

# What a program costs.
cost = jax.jit(lambda a: jnp.tanh(a @ a) + 1).lower(jnp.ones((32, 32))).compile().cost_analysis()
found["cost"] = [cost["flops"], cost["transcendentals"], cost["bytes accessed"] >= 2 * 4 * 32 * 32]

# Factorisations.
m = np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]], np.float32)
w, v = jnp.linalg.eigh(m)
same("eigh", (v * w) @ v.T, m)
u, s, vt = jnp.linalg.svd(m[:2], full_matrices=False)
same("svd", (u * s) @ vt, m[:2])
same("pinv", jnp.linalg.pinv(m) @ m, np.eye(3), 1e-4)
same("top", lax.approx_max_k(x, 2)[0], [[2, 1], [5, 4]])

same("int4", jnp.asarray(np.arange(-8, 8).astype(jnp.int4)).astype(jnp.int32), np.arange(-8, 8))
same("on XLA's CPU", jax.device_put(x, jax.devices("cpu")[0]) + 1, x + 1)
with open(sys.argv[1], "w") as f:
    json.dump(found, f)
