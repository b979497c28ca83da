"""Installs a Jupyter kernel that runs under `stet run`.

usage: python -m stet.kernel [--cpu] [--prefix DIR]      --cpu: on Stet's CPU backend"""

import argparse
import json
import os
import sys
import tempfile

from stet.locate import command


def spec(cpu):
    """kernel.json: this interpreter's kernel, started by `stet run`."""
    run = [command(), "run", "--quiet"] + (["--cpu"] if cpu else [])
    return {
        "argv": [*run, "--", sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python (Stet, CPU)" if cpu else "Python (Stet)",
        "language": "python",
        "interrupt_mode": "signal",
    }


def main():
    from jupyter_client.kernelspec import KernelSpecManager

    parser = argparse.ArgumentParser(prog="python -m stet.kernel", description="Installs a Jupyter kernel that runs under `stet run`.")
    parser.add_argument("--cpu", action="store_true", help="on Stet's CPU backend")
    parser.add_argument("--prefix", default=sys.prefix, help="where to install it (default: this environment)")
    args = parser.parse_args()
    name = "stet-cpu" if args.cpu else "stet"
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(spec(args.cpu), file, indent=1)
        print(KernelSpecManager().install_kernel_spec(folder, name, prefix=args.prefix))


if __name__ == "__main__":
    main()
