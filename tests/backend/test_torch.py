"""Torch trains on the embedded CPU backend, unmodified and in one command: losses as on torch's own CPU.

usage: test_torch.py BUILD_DIR PYTHON {tpu|xla}     PYTHON is that of the torchtpu or torchxla environment
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = (os.path.abspath(p) for p in sys.argv[1:3])
DEVICE = sys.argv[3]
del sys.argv[1:]
STET = os.path.join(BUILD, "bin", "stet")
HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 10


class Torch(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-torch-")
        self.addCleanup(self.scratch.cleanup)
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(self.scratch.name, "state"))

    def run_cpu(self, *script):
        out = subprocess.run([STET, "run", "--cpu", "--quiet", "--", PYTHON, *script], env=self.env,
                             capture_output=True, text=True, timeout=300, cwd=self.scratch.name)
        return out

    def check(self, mode):
        path = os.path.join(self.scratch.name, "losses.json")
        out = self.run_cpu(os.path.join(HERE, "torch_train.py"), DEVICE, mode, str(STEPS), path)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        with open(path) as f:
            nets = json.load(f)
        self.assertEqual(sorted(nets), ["cnn", "gpt", "mlp"])
        for name, losses in nets.items():
            self.assertEqual(len(losses["got"]), STEPS)
            self.assertLess(losses["got"][-1], losses["got"][0], name)
            for want, got in zip(losses["want"], losses["got"], strict=True):
                self.assertAlmostEqual(want, got, delta=2e-4 * abs(want), msg=name)
        show = json.loads(subprocess.run([STET, "show", "--format=json"], env=self.env, capture_output=True,
                                         text=True, check=True).stdout)
        self.assertGreater(show["compiles"], 0)

    def test_eager_trains_to_the_same_losses(self):
        self.check("eager")

    def test_compiled_trains_to_the_same_losses(self):
        self.check("compile")


if __name__ == "__main__":
    unittest.main()
