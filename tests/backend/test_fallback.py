"""JAX's platform `cpu` is the CPU backend, and XLA's CPU client runs what it cannot (`stet test`, `stet run --cpu`).

usage: test_fallback.py BUILD_DIR PYTHON     PYTHON is that of the jax environment
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:]
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jax_fallback.py")
STET = os.path.join(BUILD, "bin", "stet")


class Fallback(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-fallback-")
        self.addCleanup(self.scratch.cleanup)
        self.env = dict(os.environ, STET_STATE_DIR=os.path.join(self.scratch.name, "state"))
        for name in ("JAX_PLATFORMS", "STET_CPU_DEVICES", "STET_CPU_STRICT"):
            self.env.pop(name, None)

    def run_with(self, *options):
        out = subprocess.run([STET, *options, "--", PYTHON, PROGRAM], env=self.env, capture_output=True, text=True, timeout=300)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        return json.loads(out.stdout), out.stderr

    def is_cpu(self, found):
        self.assertEqual(found["platform"], "cpu")
        self.assertEqual(found["eig"], [-1.0, 1.0])
        self.assertEqual(found["branch"], 6.0)

    def test_xla_runs_what_the_backend_cannot_and_the_summary_names_it(self):
        found, summary = self.run_with("test")
        self.is_cpu(found)
        self.assertEqual(found["error"], "")
        self.assertTrue(found["right"] and found["again"] and found["on every device"], found)
        # A program that neither can run has both reasons in its error.
        self.assertIn('custom call target "nobody_has_this" is not known', found["neither"])
        self.assertIn("XLA's CPU client", found["neither"])
        self.assertRegex(summary, r"(?m)^stet: XLA's CPU client ran 3 programs that the CPU backend cannot run:$")
        named = re.findall(r'(?m)^stet:   (\S+): .*custom call target "triple_of_old" is not known', summary)
        self.assertEqual(named, ["jit__lambda", "jit_told", "jit_tripled"])
        self.assertNotIn("nobody_has_this", summary)

    def test_a_function_of_a_newer_interface_does_not_fail_its_registration(self):
        found, _ = self.run_with("test")
        # XLA and the backend were asked, and the backend has an older interface than the function.
        self.assertGreaterEqual(len(found["asked"]), 2, found["asked"])
        self.assertTrue(found["right"])

    def test_a_callback_is_there_as_long_as_launches_of_its_program(self):
        found, _ = self.run_with("test")
        self.assertEqual(found["callback"], [2.0])
        self.assertEqual(found["callback by XLA"], [3.0])

    def test_callbacks_with_effects_have_happened_when_the_call_returns(self):
        found, _ = self.run_with("test", "--strict")
        self.assertEqual(found["told"], [0, 1, 2, 3])

    def test_programs_share_contexts_but_threads_do_not(self):
        found, _ = self.run_with("test", "--strict")
        self.assertEqual(found["lowered"], [6, True])  # of 40 programs each, with 16 in a context

    def test_strict_fails_it_instead(self):
        for options in (("test", "--strict"), ("run", "--cpu", "--strict", "--no-store")):
            found, summary = self.run_with(*options)
            self.is_cpu(found)
            for error in (found["error"], found["neither"]):
                self.assertRegex(error, r"stablehlo\.custom_call .*jax_fallback\.py:\d+.*is not known")
                self.assertNotIn("XLA's CPU client", error)
            self.assertNotIn("XLA's CPU client ran", summary)

    def test_every_device_is_served(self):
        found, summary = self.run_with("run", "--cpu=4", "--no-store")
        self.is_cpu(found)
        self.assertEqual(len(found["devices"]), 4)
        self.assertTrue(found["right"] and found["on every device"], found)
        self.assertIn("XLA's CPU client ran 3 programs", summary)

    def test_strict_is_of_the_backend(self):
        out = subprocess.run([STET, "run", "--strict", "--", "true"], env=self.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(out.returncode, 2)
        self.assertIn("--strict needs --cpu", out.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
