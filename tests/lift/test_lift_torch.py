"""PyTorch/XLA (HLO and StableHLO) and TorchTPU on the CPU backend with --lift: the results are those of a run
without it, bit by bit, a value that drifts $VALUES times makes at most two compiles, and none in a second run with
$AGAIN new values. Prints a table. VALUES=50 is the long form (minutes).

usage: test_lift_torch.py BUILD PYTHON xla|tpu"""
import os
import pathlib
import sys
import tempfile
import unittest

from lifted_results import compare, numerics, run, table

BUILD, PYTHON, DEVICE = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2]), sys.argv[3]
COMMAND = [PYTHON, pathlib.Path(__file__).resolve().parent / "torch_cases.py", DEVICE]
VALUES = int(os.environ.get("VALUES", {"xla": 8, "tpu": 4}[DEVICE]))
AGAIN = int(os.environ.get("AGAIN", 1 if DEVICE == "tpu" else 2))
FORMATS = {"xla": {"hlo": {}, "mlir": {"XLA_STABLEHLO_COMPILE": "1"}}, "tpu": {"mlir": {}}}[DEVICE]
LIFTED = {"xla": {"power", "position", "iota_start", "pad_start", "slice_start", "roll", "triangle"},
          "tpu": {"learning_rate", "counter", "temperature", "loss_scale", "position", "splat", "iota_start",
                  "slice_start"}}[DEVICE]
# TorchTPU pads by joining blocks of zeros, whose sizes drift.
NEVER = {"xla": set(), "tpu": {"pad_start"}}[DEVICE]


class Lift(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.plain = cls.run_cases("plain", "--no-store", VALUES=VALUES)
        cls.plain_again = cls.run_cases("plain again", "--no-store", FIRST_VALUE=VALUES, VALUES=AGAIN)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_cases(cls, name, *options, **variables):
        return run(BUILD, COMMAND, cls.path, name, "--cpu", *options, **variables)

    def check(self, form):
        variables = dict(FORMATS[form], STET_STORE=self.path / ("store-" + form))
        lifted = self.run_cases(form, "--lift", VALUES=VALUES, **variables)
        again = self.run_cases(form + " again", "--lift", FIRST_VALUE=VALUES, VALUES=AGAIN, **variables)
        found = numerics(PYTHON, self.plain.results, lifted.results)
        table(f"{DEVICE}, {form}, {VALUES} values, then {AGAIN}", {
            name: (self.plain.served[name], lifted.served[name], again.served[name], row)
            for name, row in found.items()})
        self.assertEqual(compare(PYTHON, self.plain.results, lifted.results), [])
        self.assertEqual(compare(PYTHON, self.plain_again.results, again.results), [])
        for name in found:
            with self.subTest(name):
                if name in LIFTED:
                    self.assertGreaterEqual(self.plain.served[name]["compiled"], VALUES)
                    self.assertGreaterEqual(lifted.served[name]["lifted"], VALUES - 2)
                if name in NEVER:
                    self.assertEqual(lifted.served[name], {"compiled": VALUES})
                else:
                    self.assertLessEqual(lifted.served[name]["compiled"], 2)
                    self.assertEqual(again.served[name]["compiled"], 0)

    def test_a_drifting_value_makes_two_compiles(self):
        for form in FORMATS:
            with self.subTest(form):
                self.check(form)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
