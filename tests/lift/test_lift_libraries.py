"""Programs of optax, flax, equinox, haiku and numpyro with --lift: the results are those of a run
without it, bit by bit. Prints a table of the compiles.

usage: test_lift_libraries.py BUILD PYTHON [LIBRARY…]"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from lifted_results import compare

HERE = pathlib.Path(__file__).resolve().parent
ALL = ["optax", "flax", "nnx", "equinox", "haiku", "numpyro"]


def run(build, python, library, folder, name, *options):
    """The file of results, how the compiles were served, the programs that were lifted, and lines about refusals."""
    environment = dict(os.environ, STET_STATE_DIR=str(folder / name))
    environment.pop("STET_LIFT", None)
    results = folder / (name + ".npz")
    stet = build / "bin" / "stet"
    done = subprocess.run([stet, "run", "--cpu", "--no-store", *options, "--", python,
                           HERE / "library_programs.py", library, results], env=environment,
                          cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    shown = subprocess.run([stet, "show", "--format=json"], env=environment, cwd=folder,
                           capture_output=True, text=True, check=True)
    compiles = [compile for process in json.loads(shown.stdout)["processes"] for compile in process["compiles"]]
    served = collections.Counter(compile["served"] for compile in compiles)
    names = collections.Counter(compile["name"].removeprefix("jit_") for compile in compiles if compile["served"] == "lifted")
    return results, served, names, [line for line in done.stderr.splitlines() if "is not lifted" in line]


def main():
    build, python = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
    wrong = False
    print("library     compiles   with --lift   lifted   results")
    for library in sys.argv[3:] or ALL:
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            plain, before, _, _ = run(build, python, library, folder, "plain")
            lifted, after, names, refused = run(build, python, library, folder, "lifted", "--lift")
            different = compare(python, plain, lifted)
        print(f"{library:10} {before['compiled']:9} {after['compiled']:13} {after['lifted']:8}   "
              + ("different: " + " ".join(different) if different else "bit-equal   ")
              + ", ".join(f"{name} ×{n}" for name, n in names.items()), flush=True)
        for line in refused:
            print("           ", line)
        wrong |= bool(different) or not after["lifted"]
    sys.exit(wrong)


if __name__ == "__main__":
    main()
