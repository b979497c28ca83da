"""JAX on the CPU backend with --lift: the results are those of a run without it, bit by bit, a value that drifts
$VALUES times makes at most two compiles, and none in a second run with $AGAIN new values. Prints a table.
VALUES=50 AGAIN=50 is the long form.

usage: test_lift_jax.py BUILD PYTHON"""
import os
import pathlib
import sys
import tempfile
import unittest

from lifted_results import compare, numerics, run, table

BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
COMMAND = [PYTHON, pathlib.Path(__file__).resolve().parent / "cases.py"]
VALUES, AGAIN = int(os.environ.get("VALUES", 12)), int(os.environ.get("AGAIN", 3))
NEVER = {"shape", "callback"}  # a value that decides a size; Python is called
LIFTED = {"learning_rate", "counter", "temperature", "loss_scale", "position", "static_argument",
          "closed_over", "images", "rematerialized", "splat", "iota_start", "pad_start", "slice_start",
          "dynamic_slice_start", "mask", "loop", "donated", "dropout", "factored"}


class Lift(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.store = cls.path / "store"
        cls.plain = cls.run_cases("plain", "--no-store", VALUES=VALUES)
        cls.lifted = cls.run_cases("lifted", "--lift", VALUES=VALUES, STET_STORE=cls.store)
        new = {"FIRST_VALUE": VALUES, "VALUES": AGAIN}
        cls.plain_again = cls.run_cases("plain again", "--no-store", **new)
        cls.again = cls.run_cases("again", "--lift", STET_STORE=cls.store, **new)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_cases(cls, name, *options, **variables):
        return run(BUILD, COMMAND, cls.path, name, "--cpu", *options, **variables)

    def repeat(self, name):
        """The second run once more, with what was done to the store meanwhile."""
        found = self.run_cases(name, "--lift", STET_STORE=self.store, FIRST_VALUE=VALUES, VALUES=AGAIN)
        self.assertEqual(compare(PYTHON, self.plain_again.results, found.results), [])
        return found.log

    def test_1_results_are_bit_equal(self):
        self.assertEqual(compare(PYTHON, self.plain.results, self.lifted.results), [])
        self.assertEqual(compare(PYTHON, self.plain_again.results, self.again.results), [])
        found = numerics(PYTHON, self.plain.results, self.lifted.results)
        table(f"JAX, {VALUES} values, then {AGAIN}", {
            name: (self.plain.served[name], self.lifted.served[name], self.again.served[name], found[name])
            for name in found if name in LIFTED | NEVER})

    def test_1_a_drifting_value_makes_two_compiles(self):
        for name in LIFTED:
            with self.subTest(name):
                self.assertGreaterEqual(self.plain.served[name]["compiled"], VALUES)
                self.assertLessEqual(self.lifted.served[name]["compiled"], 2)
                self.assertGreaterEqual(self.lifted.served[name]["lifted"], VALUES - 2)

    def test_1_new_values_are_not_compiled_in_the_next_run(self):
        self.assertIn("an earlier run lifted this family", self.again.log)
        for name in LIFTED:
            with self.subTest(name):
                self.assertEqual(self.again.served[name]["compiled"], 0)
                self.assertGreaterEqual(self.again.served[name]["lifted"], AGAIN)

    def test_1_what_is_more_than_a_value_is_never_lifted(self):
        for name in NEVER:
            self.assertEqual(self.lifted.served[name], {"compiled": VALUES})

    def test_1_nothing_is_in_quarantine(self):
        self.assertNotIn("the first execution", self.lifted.log)
        self.assertNotIn("gave other results", self.lifted.errors)

    def test_2_a_damaged_note_is_ignored(self):
        notes = sorted((self.store / "lifts").iterdir())
        self.assertGreaterEqual(len(notes), len(LIFTED))
        for i, note in enumerate(notes):
            content = bytearray(note.read_bytes())
            content[i % len(content)] ^= 0x10
            note.write_bytes(content)
        self.assertNotIn("an earlier run", self.repeat("damaged"))

    def test_3_a_family_is_lifted_again_when_its_first_program_is_gone(self):
        for entry in (self.store / "entries").rglob("*.stet"):
            entry.unlink()
        self.assertIn("a family whose first program is gone", self.repeat("gone"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
