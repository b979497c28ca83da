"""The command line and the libraries: installed with this package, else on PATH."""

import json
import os
import shutil
import subprocess
import sys


def installed(name):
    """The path of a file that was installed with stet-cli, or None."""
    from importlib import metadata

    try:
        files = metadata.files("stet-cli") or ()
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == name:
            return os.path.realpath(file.locate())
    return None


def command():
    """The full path of `stet`."""
    beside = os.path.join(os.path.dirname(sys.executable), "stet")
    found = installed("stet") or shutil.which("stet") or (beside if os.access(beside, os.X_OK) else None)
    if not found:
        raise FileNotFoundError("the command `stet` is not on PATH")
    return found


def library(name):
    """The full path of libstet_plugin.so or libstet_cpu.so."""
    top = os.path.dirname(os.path.dirname(os.path.realpath(command())))
    places = [os.environ.get("STET_LIB_DIR"), os.path.join(top, "lib"), os.path.join(top, "lib", "stet")]
    for folder in filter(None, places):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    found = installed(name)
    if not found:
        raise FileNotFoundError(f"{name} is not installed beside {command()}")
    return found


def stet(*args):
    """Runs the command, outside the layer, and captures what it prints."""
    return subprocess.run([command(), *args], capture_output=True, text=True, env=dict(os.environ, NO_COLOR="1", LD_PRELOAD=""))


def answer(*args):
    """What the command prints as JSON. Exit 1 is an answer too: there is something to report."""
    out = stet(*args)
    if out.returncode > 1:
        raise RuntimeError(out.stderr.strip())
    return json.loads(out.stdout)
