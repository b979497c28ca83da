"""The numerics table of lifting: runs every test of lifting under a framework with VALUES drifting values of each kind, without
and with --lift, and prints their tables one after the other. 50 values are the long form, which takes an hour or more; CTest
runs the same tests with a few values each.

usage: table.py BUILD ENVIRONMENTS [VALUES [FRAMEWORK…]]
       ENVIRONMENTS is build/env; the frameworks are jax, devices, torch_xla, torch_tpu (all unless said)"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD, ENVIRONMENTS = sys.argv[1:3]
VALUES = sys.argv[3] if len(sys.argv) > 3 else "50"
TESTS = {"jax": ("test_lift_jax.py", "jax", ()), "devices": ("test_lift_devices.py", "jax", ("2", "8")),
         "torch_xla": ("test_lift_torch.py", "torchxla", ("xla",)),
         "torch_tpu": ("test_lift_torch.py", "torchtpu", ("tpu",))}


def is_row(line):
    """Lines of a table; the rest is unittest's."""
    return line.strip() and not line.startswith(("test_", "-", "Ran ", "OK", "="))


def main():
    failed = []
    for name in sys.argv[4:] or TESTS:
        script, environment, more = TESTS[name]
        command = [sys.executable, HERE / script, BUILD, f"{ENVIRONMENTS}/{environment}/bin/python", *more]
        done = subprocess.run(command, env=dict(os.environ, VALUES=VALUES), text=True, capture_output=True, check=False)
        print("\n".join(line for line in done.stdout.splitlines() if is_row(line)), flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stderr[-5000:], file=sys.stderr)
    print("all results as promised" if not failed else "failed: " + ", ".join(failed))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
