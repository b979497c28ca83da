"""Runs JAX's own tests of lax and numpy on the CPU backend twice, plain and with --lift, and compares
which of them pass. The tests are not part of this repository: FOLDER is the folder `tests` of JAX's
repository, at the tag of the JAX that PYTHON has. --count 0 runs all tests of the files, other
numbers a sample.

usage: jax_tests.py BUILD PYTHON FOLDER [--count N] [--seed S] [FILE…]"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

FILES = ["lax_test.py", "lax_numpy_test.py", "lax_numpy_indexing_test.py", "lax_control_flow_test.py",
         "lax_autodiff_test.py", "lax_vmap_test.py"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("python")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=22)
    return parser.parse_intermixed_args()


def run(stet, python, folder, options, pytest, where):
    environment = dict(os.environ, STET_STATE_DIR=str(where), JAX_NUM_GENERATED_CASES="4")
    environment.pop("STET_LIFT", None)
    command = [stet, "run", "--cpu", "--no-store", "--quiet", *options, "--", python, "-m", "pytest", "-q",
               "-p", "no:cacheprovider", "--rootdir", folder, *pytest]  # names are relative to the root
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          check=False)


def sample(a, where):
    """The names of `count` tests, the same ones for the same seed."""
    done = run(a.build / "bin/stet", a.python, a.folder, [], ["--collect-only", *a.files], where / "collect")
    names = sorted(line for line in done.stdout.splitlines() if "::" in line)
    if len(names) < max(a.count, 1):
        sys.exit(f"{len(names)} tests found\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return random.Random(a.seed).sample(names, a.count) if a.count else names


def outcomes(a, where, name, options, chosen):
    """The outcome of each test, and how many compiles were lifted."""
    report = where / (name + ".xml")
    chosen_file = where / "tests.txt"
    chosen_file.write_text("\n".join(chosen))
    done = run(a.build / "bin/stet", a.python, a.folder, options,
               ["--junitxml", str(report), "@" + str(chosen_file)], where / name)
    found = {}
    if not report.exists():
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        found[case.get("classname") + "::" + case.get("name")] = kinds[0] if kinds else "passed"
    if len(found) != len(chosen):
        sys.exit(f"{len(found)} of {len(chosen)} tests ran\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    shown = subprocess.run([a.build / "bin/stet", "show", "--format=json"], cwd=a.folder, check=True,
                           env=dict(os.environ, STET_STATE_DIR=str(where / name)),
                           capture_output=True, text=True)
    served = collections.Counter(compile["served"] for process in json.loads(shown.stdout)["processes"]
                                 for compile in process["compiles"])
    return found, dict(served)


def main():
    a = arguments()
    a.build, a.folder, a.python = a.build.resolve(), a.folder.resolve(), os.path.abspath(a.python)
    with tempfile.TemporaryDirectory() as place:
        where = pathlib.Path(place)
        chosen = sample(a, where)
        plain, _ = outcomes(a, where, "plain", [], chosen)
        lifted, served = outcomes(a, where, "lifted", ["--lift"], chosen)
    print(f"{len(plain)} tests, plain:", dict(collections.Counter(plain.values())))
    print(f"{len(lifted)} tests, --lift:", dict(collections.Counter(lifted.values())))
    print("compiles with --lift:", served)
    different = sorted(t for t in plain.keys() | lifted.keys() if plain.get(t) != lifted.get(t))
    for test in different:
        print(f"{test}: {plain.get(test)}, with --lift {lifted.get(test)}")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
