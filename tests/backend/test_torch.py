"""Torch trains on the embedded CPU backend, unmodified and in one command: losses as on torch's own CPU.

usage: test_torch.py BUILD_DIR PYTHON {tpu|xla} [unittest arguments]     PYTHON is that of the torchtpu or torchxla environment
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = (os.path.abspath(p) for p in sys.argv[1:3])
DEVICE = sys.argv[3]
del sys.argv[1:4]
STET = os.path.join(BUILD, "bin", "stet")
HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 10


class Torch(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-torch-")
        self.addCleanup(self.scratch.cleanup)
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(self.scratch.name, "state"),
                        TORCHINDUCTOR_CACHE_DIR=os.path.join(self.scratch.name, "torch"))

    def run_cpu(self, *script):
        return subprocess.run([STET, "run", "--cpu", "--quiet", "--", PYTHON, *script], env=self.env,
                              capture_output=True, text=True, timeout=300, cwd=self.scratch.name)

    def show(self):
        out = subprocess.run([STET, "show", "--format=json"], env=self.env, capture_output=True, text=True, check=True,
                             cwd=self.scratch.name)
        return json.loads(out.stdout)

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
        self.assertGreater(self.show()["compiles"], 0)

    def test_eager_trains_to_the_same_losses(self):
        self.check("eager")

    def test_the_example_trains(self):
        out = self.run_cpu(os.path.join(HERE, "..", "..", "examples", "torchtpu_train.py"))
        self.assertEqual(out.returncode, 0, out.stderr)
        steps = [line.split() for line in out.stdout.splitlines()]
        self.assertEqual([(step, device) for step, _, device in steps], [(str(i), "tpu:0") for i in range(5)])
        losses = [float(loss) for _, loss, _ in steps]
        self.assertEqual(losses, sorted(losses, reverse=True))

    def test_operations_agree_with_torchs_cpu(self):
        path = os.path.join(self.scratch.name, "operations.json")
        out = self.run_cpu(os.path.join(HERE, "torch_ops.py"), DEVICE, path)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        with open(path) as f:
            cases = json.load(f)
        self.assertGreater(len(cases), 150)
        self.assertEqual({name: what for name, what in cases.items() if what}, {})

    def test_stored_executables_serve_the_next_process(self):
        # On disk, and by name in shared memory, which outlives processes.
        name = "stet-test-%d" % os.getpid()
        self.addCleanup(shutil.rmtree, "/dev/shm/torch_tpu_cache/" + name, ignore_errors=True)
        self.env.update(TORCH_TPU_TIER2_COMPILATION_CACHE=name,
                        TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT=os.path.join(self.scratch.name, "cache"))
        script = "import torch; x = torch.ones(4, 4, device='tpu'); print((x @ x).relu().sum().item())"
        seen = []
        for _ in range(2):
            out = self.run_cpu("-c", script)
            self.assertEqual((out.returncode, out.stdout), (0, "64.0\n"), out.stderr)
            seen.append(self.show())
        self.assertGreater(seen[0]["compiles"], 0)
        self.assertEqual((seen[1]["compiles"], seen[1]["loads"]), (0, seen[0]["compiles"]))

    def test_compiled_trains_to_the_same_losses(self):
        self.check("compile")


if __name__ == "__main__":
    unittest.main()
