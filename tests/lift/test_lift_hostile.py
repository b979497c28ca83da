"""JAX on the CPU backend with --lift, on programs that could make lifting wrong: the results are those of a run without it, bit
by bit, also in a second run that finds the families of the first one in the store, and with every value compared. Prints a
table. VALUES=12 is the long form.

usage: test_lift_hostile.py BUILD PYTHON"""
import os
import pathlib
import sys
import tempfile
import unittest

from lifted_results import compare, numerics, run, table

BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
COMMAND = [PYTHON, pathlib.Path(__file__).resolve().parent / "hostile_cases.py"]
VALUES = int(os.environ.get("VALUES", 4))
# Effects, random state of the device, sizes, values that a compiler may compute otherwise.
NEVER = {"effects", "device_random", "shapes", "initial", "to_integer", "imaginary"}


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        store = {"STET_STORE": cls.path / "store", "STET_LIFT_CHECK": "9"}
        cls.plain = cls.run_cases("plain", "--no-store")
        cls.lifted = cls.run_cases("lifted", "--lift", **store)
        cls.plain_again = cls.run_cases("plain again", "--no-store", FIRST_VALUE=VALUES)
        cls.again = cls.run_cases("again", "--lift", FIRST_VALUE=VALUES, **store)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_cases(cls, name, *options, **variables):
        return run(BUILD, COMMAND, cls.path, name, "--cpu", *options, **{"VALUES": VALUES, **variables})

    def test_results_are_bit_equal(self):
        found = numerics(PYTHON, self.plain.results, self.lifted.results)
        table(f"JAX, {VALUES} values, then {VALUES}", {
            name: (self.plain.served[name], self.lifted.served[name], self.again.served[name], row)
            for name, row in found.items()})
        self.assertEqual(compare(PYTHON, self.plain.results, self.lifted.results), [])
        self.assertEqual(compare(PYTHON, self.plain_again.results, self.again.results), [])

    def test_what_is_more_than_a_value_is_never_lifted(self):
        for name in NEVER:
            with self.subTest(name):
                self.assertEqual(self.lifted.served[name]["lifted"], 0)

    def test_other_values_are_lifted(self):
        """The test would prove nothing if everything were refused."""
        lifted = {name for name, served in self.lifted.served.items() if served["lifted"]}
        self.assertGreaterEqual(len(lifted), 12, lifted)
        self.assertIn("returned", lifted)

    def test_no_comparison_failed(self):
        self.assertNotIn("differ from the plain program", self.lifted.log)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
