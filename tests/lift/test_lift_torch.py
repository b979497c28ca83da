"""PyTorch/XLA (HLO and StableHLO) and TorchTPU on the CPU backend with --lift: the results are those of a
run without it, bit by bit, and a value that drifts $VALUES times (12; 50 takes minutes) makes at most two
compiles.

usage: test_lift_torch.py BUILD PYTHON xla|tpu"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from lifted_results import compare

BUILD, PYTHON, DEVICE = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
CASES = pathlib.Path(__file__).resolve().parent / "torch_cases.py"
STET = BUILD / "bin" / "stet"
FUNCTIONS = {"xla": 3, "tpu": 1}[DEVICE]
VALUES = int(os.environ.setdefault("VALUES", "12"))
FORMATS = {"xla": {"hlo": {}, "stablehlo": {"XLA_STABLEHLO_COMPILE": "1"}}, "tpu": {"stablehlo": {}}}[DEVICE]


class Lift(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.plain, cls.before = cls.run_cases("plain")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_cases(cls, name, *options, **variables):
        environment = dict(os.environ, STET_STATE_DIR=str(cls.path / name),
                           TORCHINDUCTOR_CACHE_DIR=str(cls.path / name / "torch"), **variables)
        environment.pop("STET_LIFT", None)
        results = cls.path / (name + ".npz")
        done = subprocess.run([STET, "run", "--cpu", "--no-store", *options, "--", PYTHON, CASES,
                               DEVICE, results],
                              env=environment, cwd=cls.path, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        shown = subprocess.run([STET, "show", "--format=json"], env=environment, cwd=cls.path,
                               capture_output=True, text=True, check=True)
        compiles = [c for p in json.loads(shown.stdout)["processes"] for c in p["compiles"]]
        return results, [c["served"] for c in compiles]

    def test_a_drifting_value_makes_two_compiles(self):
        self.assertGreaterEqual(self.before.count("compiled"), FUNCTIONS * VALUES)
        for name, variables in FORMATS.items():
            with self.subTest(name):
                results, served = self.run_cases(name, "--lift", **variables)
                self.assertEqual(compare(PYTHON, self.plain, results), [])
                self.assertGreaterEqual(served.count("lifted"), FUNCTIONS * (VALUES - 2))
                self.assertLessEqual(len(served) - served.count("lifted"),
                                     len(self.before) - FUNCTIONS * (VALUES - 2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
