"""Functions of a library that say whether the code is being compiled, under names of its own."""
import jax
import torch

_asked = getattr(torch.compiler, "is_compiling", None) or getattr(torch._dynamo, "is_compiling", None)
_version = getattr(torch, "__version__", None)


class Space:
    def __hash__(self):
        return hash(self.sizes)


class Plain:
    def describe(self):
        return "plain"


def capturing():
    return bool(_asked()) if _asked is not None else False


def running():
    return not torch.compiler.is_compiling()


def on_server():
    return _version == "2.9"


def in_graph():
    try:
        return torch.compiler.is_compiling()
    except AttributeError:
        return False


def outside(x):
    return not isinstance(x, jax.core.Tracer)
