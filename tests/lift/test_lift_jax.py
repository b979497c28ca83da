"""JAX on the CPU backend with --lift: the results are those of a run without it, bit by bit, and a
value that drifts 50 times makes at most two compiles.

usage: test_lift_jax.py BUILD PYTHON"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from lifted_results import compare

BUILD, PYTHON = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
HERE = pathlib.Path(__file__).resolve().parent
STET = BUILD / "bin" / "stet"
NEVER = ("shape", "callback")  # a value that decides a size; Python is called


def run(folder, name, *options, **variables):
    environment = dict(os.environ, STET_STATE_DIR=str(folder / name),
                       STET_LOG=str(folder / (name + ".log")), **variables)
    environment.pop("STET_LIFT", None)
    results = folder / (name + ".npz")
    done = subprocess.run([STET, "run", "--cpu", *options, "--", PYTHON,
                           HERE / "cases.py", results],
                          env=environment, cwd=folder, capture_output=True, text=True, timeout=500)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    explained = subprocess.run([STET, "explain", "--format=json"], env=environment, cwd=folder,
                          capture_output=True, text=True, check=False)
    log = folder / (name + ".log")
    return results, json.loads(explained.stdout), done.stderr, log.read_text()


class Lift(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(cls.folder.name)
        cls.plain, cls.before, _, _ = run(path, "plain", "--no-store")
        cls.lifted, cls.after, cls.said, cls.log = run(path, "lifted", "--no-store", "--lift")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def served(self, explained):
        count = collections.defaultdict(collections.Counter)
        for r in explained["recompiles"]:
            count[r["function"]][r["served"]] += 1
        return count

    def test_results_are_bit_equal(self):
        self.assertEqual(compare(PYTHON, self.plain, self.lifted), [])

    def test_a_drifting_value_makes_two_compiles(self):
        before, after = self.served(self.before), self.served(self.after)
        for name in ("learning_rate", "counter", "temperature", "static_number", "splat",
                     "closed_over", "mask", "loop", "donated", "dropout", "factored"):
            with self.subTest(name):
                self.assertGreaterEqual(before[name]["compiled"], 49)
                self.assertLessEqual(after[name]["compiled"], 2)  # with its first one
                self.assertGreaterEqual(after[name]["lifted"], 48)
        self.assertLessEqual(after["slice_start"]["compiled"], 2)
        self.assertGreaterEqual(after["slice_start"]["lifted"], 40)

    def test_what_is_more_than_a_value_is_never_lifted(self):
        for name in NEVER:
            self.assertGreaterEqual(self.served(self.after)[name]["compiled"], 49)
            self.assertEqual(self.served(self.after)[name]["lifted"], 0)

    def test_nothing_is_in_quarantine(self):
        self.assertNotIn("the first execution", self.log)
        self.assertNotIn("gave other results", self.said)


LIFTED = ("learning_rate", "counter", "temperature", "slice_start", "static_number", "splat",
          "closed_over", "mask", "loop", "donated", "dropout", "factored")


class Remembered(unittest.TestCase):
    """A second run with other values than the first, and the same store."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.store = cls.path / "store"
        run(cls.path, "first", "--lift", STET_STORE=str(cls.store), VALUES="4")
        cls.plain, _, _, _ = run(cls.path, "plain", "--no-store", FIRST_VALUE="4", VALUES="3")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def again(self, name):
        results, explained, _, log = run(self.path, name, "--lift", STET_STORE=str(self.store),
                                         FIRST_VALUE="4", VALUES="3")
        self.assertEqual(compare(PYTHON, self.plain, results), [])
        compiled = collections.Counter(r["function"] for r in explained["recompiles"]
                                       if r["served"] == "compiled")
        return {f: n for f, n in compiled.items() if f in LIFTED}, log

    def test_1_nothing_is_compiled_for_new_values(self):
        compiled, log = self.again("second")
        self.assertEqual(compiled, {})
        self.assertIn("an earlier run lifted this family", log)

    def test_2_a_damaged_note_is_ignored(self):
        notes = sorted((self.store / "lifts").iterdir())
        self.assertGreaterEqual(len(notes), len(LIFTED))
        for i, note in enumerate(notes):
            content = bytearray(note.read_bytes())
            content[i % len(content)] ^= 0x10
            note.write_bytes(content)
        _, log = self.again("damaged")
        self.assertNotIn("an earlier run", log)

    def test_3_a_family_whose_first_program_is_gone_is_lifted_anew(self):
        for entry in (self.store / "entries").rglob("*.stet"):
            entry.unlink()
        _, log = self.again("gone")
        self.assertIn("a family whose first program is gone", log)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
