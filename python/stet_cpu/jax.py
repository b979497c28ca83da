"""JAX on the CPU backend: the entry point `jax_plugins`, and what JAX must be told of the platform.

Under `stet run --cpu` and `stet test` the backend is JAX's platform `cpu` (pose.py). Otherwise it is a
platform of its own, `stet`. JAX knows by name which platforms take donated arguments, run callbacks and have lowerings for some
linear algebra, and takes a platform that it does not know for one that can do none of it. The platform
`stet` is lowered to as a TPU is, which is what the backend runs."""

import importlib
import os
import sys

from stet_cpu import library_path


def initialize():
    """Registers the platform when it is asked for by name: a program that says nothing runs where it
    ran before this package was installed. JAX calls this before it looks for its platforms."""
    import jax
    from jax._src import xla_bridge

    named = os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "")
    if "stet" not in (jax.config.jax_platforms or "").split(","):
        return
    for name, tell in (("interpreters.mlir", after_mlir), ("callback", after_callback), ("xla_bridge", after_bridge)):
        try:
            tell(importlib.import_module("jax._src." + name))
        except Exception as error:  # another release: the platform has less then, but is there
            print(f"stet: jax._src.{name} is not as expected, so less will run on the platform stet: {error!r}",
                  file=sys.stderr)
    if any(entry.startswith("stet:") for entry in named.split(",")):
        return  # JAX has it from there
    xla_bridge.register_plugin("stet", library_path=library_path())


def posing():
    """pose.py if the backend is `cpu`, else None."""
    return importlib.import_module("stet_cpu.pose") if os.environ.get("STET_JAX_AS") == "cpu" else None


def after_bridge(module):
    """jax._src.xla_bridge: no warning that the platform is experimental."""
    if posing():
        posing().after_bridge(module)
        return
    module._nonexperimental_plugins.add("stet")


def after_mlir(module):
    """jax._src.interpreters.mlir: donation, and one table of lowerings for both, so that what is
    registered for a TPU later is in it, too."""
    if posing():
        posing().after_mlir(module)
        return
    rules = module._platform_specific_lowerings
    if rules["stet"] is rules["tpu"]:
        return
    rules["tpu"].update(rules["stet"])
    rules["stet"] = rules["tpu"]
    module._platforms_with_donation.append("stet")


class AsTpu:
    """A module that is lowered, but for the name of its platform."""

    platforms = ("tpu",)

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        return getattr(self.__dict__["module"], name)


def after_callback(module):
    """jax._src.callback: callbacks by send and receive."""
    if posing():
        posing().after_callback(module)
        return
    emit = module.emit_python_callback
    if hasattr(emit, "of_stet"):
        return

    def emit_python_callback(ctx, *args, **kwargs):
        if tuple(ctx.module_context.platforms) == ("stet",):
            ctx = ctx.replace(module_context=AsTpu(ctx.module_context))
        return emit(ctx, *args, **kwargs)

    emit_python_callback.of_stet = True
    module.emit_python_callback = emit_python_callback
