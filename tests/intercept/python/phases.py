"""A module like JAX's: who listens to its durations, and does that survive whatever it is called with?

usage: phases.py DRIVER PLUGIN
"""

import ctypes
import os
import sys
import types

listeners = []
jax, monitoring = types.ModuleType("jax"), types.ModuleType("jax.monitoring")
monitoring.register_event_duration_secs_listener = listeners.append
jax.monitoring = monitoring

held = ctypes.PyDLL(sys.argv[1])
assert held.drive_open(sys.argv[2].encode())
assert held.drive_compile(b"fake program before\n")
assert not listeners, "it listens though JAX was not imported"
sys.modules.update({"jax": jax, "jax.monitoring": monitoring})
assert held.drive_compile(b"fake program one\n")
assert held.drive_compile(b"fake program two\n")
assert len(listeners) == 1, listeners
listen = listeners[0]


class Hostile:
    def __getattr__(self, name):
        os._exit(3)

    def __float__(self):
        os._exit(4)


TRACE, LOWER = "/jax/core/compile/jaxpr_trace_duration", "/jax/core/compile/jaxpr_to_mlir_module_duration"
for args, kwargs in (
    ((TRACE, 0.25), {"fun_name": "step"}),
    ((LOWER, 0.5), {"fun_name": "jit(step)"}),
    ((LOWER, 1), {}),  # an older version, without a name
    ((TRACE, -1.0), {"fun_name": "x" * 100000}),
    ((TRACE, float("nan")), {"fun_name": None}),
    ((TRACE, Hostile()), {"fun_name": Hostile()}),
    (("/jax/core/compile/backend_compile_duration", 2.0), {"fun_name": "jit(step)"}),
    (("/another", 1.0), {}),
    ((Hostile(), 1.0), {}),
    ((TRACE,), {}),
    ((), {}),
):
    assert listen(*args, **kwargs) is None, args
print("fine")
