"""optax's own tests on XLA's CPU and on the embedded CPU backend: how many pass, in how many CPU seconds.

usage: optax_tests.py [PYTHON]     a Python with jax, optax and pytest (build/env/jax/bin/python); some minutes

The tests are those that the installed optax has in optax/losses, optax/tree_utils and optax/_src/update_test.py.
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/env/jax/bin/python").absolute()
WHERE = ("losses", "tree_utils", "_src/update_test.py")


def run(before, environment, optax):
    """The last line of pytest, CPU seconds of it and of its children, and seconds by the clock."""
    command = [*before, str(PYTHON), "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"{optax}/{part}" for part in WHERE)]
    with tempfile.TemporaryDirectory() as state:
        begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=state, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "STET_STATE_DIR": state, **environment})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    passed = re.findall(r"^.*\b\d+ passed.*$", done.stdout, re.MULTILINE)
    if done.returncode or not passed:
        sys.exit(done.stdout[-3000:])
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    return passed[-1].strip("= "), cpu, time.monotonic() - begin


def main():
    optax = subprocess.check_output([PYTHON, "-c", "import optax; print(list(optax.__path__)[0])"], text=True,
                                    env={**os.environ, "JAX_PLATFORMS": "cpu"}).strip()
    stet = ROOT / "build/release/bin/stet"
    for name, before, environment in (("XLA:CPU", (), {"JAX_PLATFORMS": "cpu"}), ("stet test", (stet, "test", "--quiet", "--"), {})):
        passed, cpu, clock = run(before, environment, optax)
        print(f"{name:10} {cpu:7.1f} CPU s {clock:7.1f} s by the clock   {passed}", flush=True)


if __name__ == "__main__":
    main()
