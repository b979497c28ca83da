"""Stet in a notebook: `%load_ext stet`, then `%%stet` and `%stet explain`.

The magics ask the command line `stet` and print what it says. A kernel that was started under `stet run`
is watched as any program is. In any other kernel `%load_ext stet` makes a run and lets the layer in as a
PJRT plugin, which works as long as no framework has made a client. See `stet help notebooks`."""

from stet.locate import command, library

__all__ = ["command", "library", "load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(shell):
    from stet.notebook import load

    load(shell)


def unload_ipython_extension(shell):
    from stet.notebook import unload

    unload(shell)
