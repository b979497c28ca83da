"""JAX on the backend under the name `cpu`: what XLA's own CPU client would be asked, Stet's backend is.

Code that branches on the platform's name takes the way that it takes on XLA's CPU: JAX's lowerings for
`cpu` (LAPACK through its foreign function interface), lax.platform_dependent, libraries that refuse
names that they do not know, jax_platform_name=cpu, jax.devices("cpu")."""

import functools
import inspect
import os
import re
import threading

import numpy as np

from stet_cpu import callbacks, fallback, library_path
from stet_cpu.extension import Backend, pointer_of

PLUGIN = "stet"


def device_count(bridge):
    """As many as the program asks for, else as `stet run --cpu=N` or XLA_FLAGS say."""
    asked = getattr(bridge, "num_cpu_devices", None)
    if asked is not None and asked.value >= 0:
        return asked.value
    if os.environ.get("STET_CPU_DEVICES"):
        return int(os.environ["STET_CPU_DEVICES"])
    flags = re.findall(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    return int(flags[-1]) if flags else 1


def after_bridge(bridge):
    """jax._src.xla_bridge: the client of `cpu` is the backend's."""
    from_environment = bridge._get_pjrt_plugin_names_and_library_paths
    bridge._get_pjrt_plugin_names_and_library_paths = lambda text: {
        name: path for name, path in from_environment(text).items() if name != PLUGIN}
    table = bridge.xla_client.load_pjrt_plugin_dynamically(PLUGIN, library_path())
    bridge.register_backend_factory(
        "cpu", functools.partial(make_client, bridge), priority=0, fail_quietly=False,
        make_topology=functools.partial(bridge.xla_client.make_c_api_device_topology, table), c_api=table)
    backend = Backend(pointer_of(table))
    register_functions(bridge.xla_client, backend)
    fallback.install(backend)
    if (bridge.config.jax_platforms.value or "").startswith(PLUGIN):
        bridge.config.update("jax_platforms", "cpu")


def make_client(bridge):
    return bridge.make_pjrt_c_api_client(PLUGIN, {"platform_name": "cpu", "device_count": device_count(bridge)})


def register_functions(client, backend):
    """Functions and types that libraries register for custom calls on `cpu` are known to the backend, too."""

    def function(name, fn, platform, api_version=0, traits=0):
        client._xla.register_custom_call_target(name, fn, platform, api_version, traits)
        if api_version == 1:
            stages = fn if isinstance(fn, dict) else {"execute": fn}
            backend.register_function(name, {stage: pointer_of(capsule) for stage, capsule in stages.items()})

    def type_(name, registration):
        client._xla.register_custom_type(name, registration)
        backend.register_type(name, pointer_of(registration["type_id"]), pointer_of(registration.get("type_info")))

    client.register_custom_call_handler("cpu", function)
    client.register_custom_type_handler("cpu", type_)
    callbacks.register(functools.partial(function, platform="Host", api_version=1), type_)


class Contexts:
    """MLIR contexts for JAX's lowerings, each used several times by its thread.

    JAX makes one for each program and loads all dialects into it, which takes a third of the processor time of a
    test that compiles small programs. A context keeps the constants of its programs, so it is not used for long."""

    USES = 16

    def __init__(self, make):
        self.make, self.own = make, threading.local()

    def take(self):
        left, context = getattr(self.own, "state", (0, None))
        if not left:
            left, context = self.USES, self.make()
        self.own.state = left - 1, context
        return context


def after_mlir(module):
    """jax._src.interpreters.mlir: the context of a program's lowering comes from Contexts."""
    contexts = Contexts(module.make_ir_context)
    begin = module.ModuleContext.__init__
    if getattr(begin, "of_stet", False) or "context" not in inspect.signature(begin).parameters:
        return

    @functools.wraps(begin)
    def init(self, *args, context=None, **options):
        begin(self, *args, context=context or contexts.take(), **options)

    init.of_stet = True
    module.ModuleContext.__init__ = init


class CallbackTarget:
    """jax._src.ffi as jax._src.callback uses it, but for the function that callbacks are called by."""

    def __init__(self, ffi):
        self.ffi = ffi

    def __getattr__(self, name):
        return getattr(self.__dict__["ffi"], name)

    def build_ffi_lowering_function(self, target, **options):
        if not (target.startswith("xla_ffi_") and target.endswith("python_cpu_callback")):
            return self.ffi.build_ffi_lowering_function(target, **options)
        lower = self.ffi.build_ffi_lowering_function(callbacks.TARGET, **options)

        def lower_callback(ctx, *operands, index):
            callback = callbacks.Registered(ctx.module_context.host_callbacks[int(index)])
            ctx.module_context.add_keepalive(callback)
            # The name tells fingerprints that the number is no part of the program (canon.def).
            return lower(ctx, *operands, stet_callback_number=np.uint64(callback.number))

        return lower_callback


def after_callback(module):
    """jax._src.callback: a Python callback is a custom call of ours."""
    module.ffi = CallbackTarget(module.ffi)
