"""JAX trains on the embedded CPU backend: losses as on XLA's CPU, and Stet counts what it did.

usage: test_jax.py BUILD_DIR PYTHON     PYTHON is that of the jax environment
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:]
HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jax_host.py")
TRAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "device", "train.py")
STEPS = 20


class Jax(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-cpu-")
        self.addCleanup(self.scratch.cleanup)

    def train(self, platform, *prefix):
        path = os.path.join(self.scratch.name, platform + ".json")
        env = dict(os.environ, JAX_PLATFORMS=platform, STET_STATE_DIR=os.path.join(self.scratch.name, "state"))
        if platform == "stet":
            env["PJRT_NAMES_AND_LIBRARY_PATHS"] = "stet:" + os.path.join(BUILD, "lib", "libstet_cpu.so")
        out = subprocess.run([*prefix, PYTHON, TRAIN, str(STEPS), path], env=env, capture_output=True, text=True,
                             timeout=600)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        with open(path) as f:
            return json.load(f), env

    def losses(self, result):
        return [struct.unpack("<f", bytes.fromhex(h))[0] for h in result["losses"]]

    def test_a_transformer_trains_to_the_same_losses(self):
        want, _ = self.train("cpu")
        stet = os.path.join(BUILD, "bin", "stet")
        got, env = self.train("stet", stet, "run", "--quiet", "--")
        for a, b in zip(self.losses(want), self.losses(got), strict=True):
            self.assertAlmostEqual(a, b, delta=2e-4 * abs(a))
        show = json.loads(subprocess.run([stet, "show", "--format=json"], env=env, capture_output=True,
                                         text=True, check=True).stdout)
        (process,) = show["processes"]
        self.assertEqual(show["compiles"], got["compiles"])
        steps = [c["executions"] for c in process["compiles"] if "train_step" in c["name"]]
        self.assertEqual(steps, [STEPS])
        # Right or not known, never wrong.
        self.assertIn(process["steps"], (STEPS, None))

    def test_jax_has_its_platform_rules_for_this_platform(self):
        for platform, wanted in (("cpu", ""), ("stet", "stet,cpu"), ("tpu", "tpu,cpu")):
            path = os.path.join(self.scratch.name, platform + ".json")
            env = dict(os.environ, JAX_PLATFORMS=wanted, STET_STATE_DIR=os.path.join(self.scratch.name, "state"))
            out = subprocess.run([os.path.join(BUILD, "bin", "stet"), "run", "--cpu", "--quiet", "--", PYTHON, HOST, path],
                                 env=env, capture_output=True, text=True, timeout=300)
            self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
            self.assertEqual(out.stdout.count("sum 15.0"), 2, out.stdout)
            with open(path) as f:
                found = json.load(f)
            self.assertEqual(found.pop("platform"), platform)
            self.assertEqual(found.pop("ordered"), [0, 1, 2] * 2)
            self.assertEqual(found.pop("branches"), 1)
            self.assertEqual(found.pop("donated"), [True, True])
            self.assertEqual(found.pop("cost"), [2 * 32**3 + 32**2, 32**2, True])
            self.assertEqual(found.pop("results' memories"), ["pinned_host", "device"])
            self.assertEqual({k for k, v in found.items() if v is not True}, set())


if __name__ == "__main__":
    unittest.main()
