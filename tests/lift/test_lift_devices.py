"""JAX on several devices of the CPU backend with --lift: the results of every device are those of a
run without it, bit by bit, and a value that drifts makes at most two compiles, or one when an
earlier run is remembered. VALUES=50 is the long form.

usage: test_lift_devices.py BUILD PYTHON [DEVICES…]"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from lifted_results import compare

BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
DEVICES = [int(n) for n in sys.argv[3:]] or [2, 8]
HERE = pathlib.Path(__file__).resolve().parent
STET = BUILD / "bin" / "stet"
VALUES = int(os.environ.get("VALUES", 6))
LIFTED = {"data_parallel", "tensor_parallel", "explicit", "closed_over", "window", "mapped",
          "partly_mapped", "_fun"}  # JAX calls what pmap compiles so
NEVER = {"device_number"}  # a result that depends on the device


def run(folder, name, devices, gspmd, *options, **variables):
    environment = dict(os.environ, STET_STATE_DIR=str(folder / name), VALUES=str(VALUES),
                       STET_LOG=str(folder / (name + ".log")))
    environment.update(variables)
    environment.pop("STET_LIFT", None)
    if gspmd:
        environment["GSPMD"] = "1"
    results = folder / (name + ".npz")
    done = subprocess.run([STET, "run", f"--cpu={devices}", *options, "--", PYTHON,
                           HERE / "device_cases.py", results],
                          env=environment, cwd=folder, capture_output=True, text=True, timeout=900)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    explained = subprocess.run([STET, "explain", "--format=json"], env=environment, cwd=folder,
                               capture_output=True, text=True, check=False)
    served = collections.defaultdict(collections.Counter)
    for r in json.loads(explained.stdout)["recompiles"]:
        served[r["function"]][r["served"]] += 1
    return results, served, (folder / (name + ".log")).read_text()


class Devices(unittest.TestCase):
    def check(self, devices, gspmd):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            store = {"STET_STORE": str(folder / "store")}
            plain, before, _ = run(folder, "plain", devices, gspmd, "--no-store")
            lifted, after, log = run(folder, "lifted", devices, gspmd, "--lift", **store)
            self.assertEqual(compare(PYTHON, plain, lifted), [])
            self.assertNotIn("the first execution", log)
            for case in LIFTED & set(before):
                with self.subTest(case):
                    self.assertGreaterEqual(before[case]["compiled"], VALUES - 1)
                    self.assertLessEqual(after[case]["compiled"], 2)  # with its first one
                    self.assertGreaterEqual(after[case]["lifted"], min(VALUES, 12) - 2)
            for case in NEVER & set(before):
                self.assertEqual(after[case]["lifted"], 0, case)
            # Another collective is another family: one program of each is compiled.
            self.assertLessEqual(after["ring"]["lifted"], max(0, VALUES - devices))
            self.remembered(folder, devices, gspmd, store)
            print(devices, "GSPMD" if gspmd else "Shardy", {f: dict(after[f]) for f in sorted(after)})

    def remembered(self, folder, devices, gspmd, store):
        """Other values than the first run's: nothing is compiled for them."""
        more = {"FIRST_VALUE": str(VALUES), "VALUES": "2"}
        plain, _, _ = run(folder, "plain2", devices, gspmd, "--no-store", **more)
        again, served, log = run(folder, "again", devices, gspmd, "--lift", **store, **more)
        self.assertEqual(compare(PYTHON, plain, again), [])
        self.assertIn("an earlier run lifted this family", log)
        for case in LIFTED & set(served):
            self.assertEqual(served[case]["compiled"], 0, case)

    def test_shardy(self):
        for devices in DEVICES:
            with self.subTest(devices):
                self.check(devices, False)

    def test_gspmd(self):
        for devices in DEVICES:
            with self.subTest(devices):
                self.check(devices, True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
