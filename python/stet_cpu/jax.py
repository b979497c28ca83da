"""Entry point `jax_plugins`: JAX calls initialize() before it looks for its platforms."""

import os

from stet_cpu import library_path


def initialize():
    """Registers the platform when it is asked for by name: a program that says nothing runs where it
    ran before this package was installed."""
    import jax
    from jax._src import xla_bridge

    named = os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "")
    if "stet" not in (jax.config.jax_platforms or "").split(","):
        return
    if any(entry.startswith("stet:") for entry in named.split(",")):
        return  # JAX has it from there
    xla_bridge.register_plugin("stet", library_path=library_path())
