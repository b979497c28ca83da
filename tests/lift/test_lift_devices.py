"""JAX on several devices of the CPU backend with --lift: the results of every device are those of a
run without it, bit by bit, and a value that drifts makes at most two compiles, or none when an
earlier run is remembered. Prints a table. VALUES=50 is the long form.

usage: test_lift_devices.py BUILD PYTHON [DEVICES…]"""
import os
import pathlib
import sys
import tempfile
import unittest

from lifted_results import compare, numerics, run, table

BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
DEVICES = [int(n) for n in sys.argv[3:]] or [2, 8]
COMMAND = [PYTHON, pathlib.Path(__file__).resolve().parent / "device_cases.py"]
VALUES, AGAIN = int(os.environ.get("VALUES", 6)), int(os.environ.get("AGAIN", 2))
LIFTED = {"data_parallel", "tensor_parallel", "explicit", "closed_over", "window", "mapped",
          "partly_mapped", "replicated", "device_number", "replica_number", "two_meshes"}


class Devices(unittest.TestCase):
    def check(self, devices, gspmd):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            variables = {"GSPMD": "1"} if gspmd else {}

            def cases(name, *options, **values):
                return run(BUILD, COMMAND, folder, name, f"--cpu={devices}", *options, **variables, **values)

            new, store = {"FIRST_VALUE": VALUES, "VALUES": AGAIN}, {"STET_STORE": folder / "store"}
            plain = cases("plain", "--no-store", VALUES=VALUES)
            lifted = cases("lifted", "--lift", VALUES=VALUES, **store)
            plain_again = cases("plain again", "--no-store", **new)
            again = cases("again", "--lift", **store, **new)
            found = numerics(PYTHON, plain.results, lifted.results)
            table(f"{devices} devices, {'GSPMD' if gspmd else 'Shardy'}, {VALUES} values, then {AGAIN}", {
                case: (plain.served[case], lifted.served[case], again.served[case], row)
                for case, row in found.items()})
            self.assertEqual(compare(PYTHON, plain.results, lifted.results), [])
            self.assertEqual(compare(PYTHON, plain_again.results, again.results), [])
            self.assertNotIn("the first execution", lifted.log)
            self.assertIn("an earlier run lifted this family", again.log)
            for case in LIFTED & set(found):
                with self.subTest(case):
                    self.assertGreaterEqual(plain.served[case]["compiled"], VALUES)
                    self.assertLessEqual(lifted.served[case]["compiled"], 2)
                    self.assertGreaterEqual(lifted.served[case]["lifted"], VALUES - 2)
                    self.assertEqual(again.served[case]["compiled"], 0)
            # Another collective is another family: one program of each is compiled.
            self.assertLessEqual(lifted.served["ring"]["lifted"], max(0, VALUES - devices))

    def test_programs_with_shardy_are_lifted(self):
        for devices in DEVICES:
            with self.subTest(devices):
                self.check(devices, False)

    def test_programs_with_gspmd_are_lifted(self):
        for devices in DEVICES:
            with self.subTest(devices):
                self.check(devices, True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
