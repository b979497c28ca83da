"""Stet's Python side: batches that keep a contract (docs/batches.md), and `%load_ext stet` in a notebook
(docs/notebooks.md)."""

from stet.locate import command, library

__all__ = ["Canonical", "Leaf", "canonical", "command", "from_contract", "library",
           "load_ipython_extension", "unload_ipython_extension"]


def __getattr__(name):
    """Batches need NumPy and libstet_batch.so, which a notebook need not have."""
    if name not in ("Canonical", "Leaf", "canonical", "from_contract"):
        raise AttributeError(f"module 'stet' has no attribute {name!r}")
    from stet import batch

    return getattr(batch, name)


def load_ipython_extension(shell):
    from stet.notebook import load

    load(shell)


def unload_ipython_extension(shell):
    from stet.notebook import unload

    unload(shell)
