"""Put first on PYTHONPATH by `stet run --cpu`: lets frameworks find the CPU backend as their device.

Python imports one sitecustomize at start. This one steps aside for the one it hides, then waits for the
modules named below and, once such a module is loaded, hands it to a function of ours. Whatever goes
wrong in ours is told and leaves the program as it was."""

import importlib
import importlib.machinery
import importlib.util
import os
import sys

import stet_cpu  # while this folder is on the path; its parts are found through it later

# module of the framework: part of stet_cpu, its function
WAITING = {
    "jax._src.interpreters.mlir": ("jax", "after_mlir"),
    "jax._src.callback": ("jax", "after_callback"),
    "jax._src.xla_bridge": ("jax", "after_bridge"),
    "torch_tpu._internal.utils.hardware": ("torch_tpu", "after_hardware"),
    "torch_tpu._loader": ("torch_tpu", "after_loader"),
    "torch_xla.experimental.plugins": ("torch_xla", "after_plugins"),
}


def call(module):
    part, function = WAITING[module.__name__]
    try:
        getattr(importlib.import_module("stet_cpu." + part), function)(module)
    except Exception as error:
        print(f"stet: {module.__name__} is not as expected, so it may not find the CPU backend: {error!r}",
              file=sys.stderr)


class AfterImport:
    """Finds what the other finders find, and adds a call after the module has run."""

    def find_spec(self, name, path=None, target=None):
        if name not in WAITING:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec and hasattr(spec.loader, "exec_module"):
                run = spec.loader.exec_module

                def exec_module(module):
                    run(module)
                    call(module)

                spec.loader.exec_module = exec_module
                return spec
        return None


def step_aside():
    """Takes this folder off the path and runs the sitecustomize behind it, in its own name."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if not p or os.path.abspath(p) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path.insert(0, AfterImport())
step_aside()
