"""The embedded CPU backend (libstet_cpu.so) as frameworks find a device plugin.

`stet run --cpu` imports this before pytest can rewrite its assertions, and it has none: PYTEST_DONT_REWRITE.
"""

import os

LIBRARY = "libstet_cpu.so"


def library_path():
    """The full path of libstet_cpu.so: as `stet run --cpu` says, else as installed with this package."""
    told = os.environ.get("STET_CPU_LIBRARY")
    if told:
        return told
    from importlib import metadata

    for file in metadata.files("stet-cli") or ():
        if file.name == LIBRARY:
            return os.path.realpath(file.locate())
    raise FileNotFoundError(f"{LIBRARY} was not installed with stet-cli; set STET_CPU_LIBRARY to its path")
