"""JAX trains a zoo of networks on libstet_cpu.so to the losses of XLA:CPU.

usage: test_zoo.py BUILD_DIR PYTHON     PYTHON is that of the jax environment
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, PYTHON = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 50
# Of the loss, at every step. Two f32 runtimes that add in different orders are this near after 50 steps
# of these networks: measured at most 1e-5.
TOLERANCE = 1e-4


class Zoo(unittest.TestCase):
    def start(self, name, **env):
        path = os.path.join(self.scratch.name, name + ".json")
        run = subprocess.Popen([PYTHON, os.path.join(HERE, "zoo.py"), str(STEPS), path], text=True,
                               env=dict(os.environ, **env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(run.kill)
        return path, run

    def result(self, started):
        path, run = started
        out, _ = run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0, out)
        with open(path) as f:
            return json.load(f)

    def test_every_network_trains_to_the_losses_of_xla(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-zoo-")
        self.addCleanup(self.scratch.cleanup)
        here = dict(JAX_PLATFORMS="stet", PJRT_NAMES_AND_LIBRARY_PATHS="stet:" + os.path.join(BUILD, "lib", "libstet_cpu.so"))
        # XLA's own passes take most of the time; these are left out, the arithmetic is the same.
        xla = self.start("xla", JAX_PLATFORMS="cpu",
                         XLA_FLAGS="--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
        stet = self.result(self.start("stet", **here))
        # JAX donates only on platforms it knows the name of.
        tpu = self.result(self.start("tpu", STET_CPU_PLATFORM="tpu", **here))
        xla = self.result(xla)
        self.assertEqual([r["platform"] for r in (xla, stet, tpu)], ["cpu", "stet", "tpu"])
        self.assertEqual(len(xla["losses"]), 15)
        worst = {}
        for got in (stet, tpu):
            self.assertEqual(list(got["losses"]), list(xla["losses"]))
            for name, want in xla["losses"].items():
                self.assertEqual(len(want), STEPS)
                self.assertLess(want[-1], want[0] - 0.1, f"{name} does not learn")
                for step, (a, b) in enumerate(zip(want, got["losses"][name], strict=True)):
                    off = abs(a - b) / max(abs(a), 1e-2)
                    worst[name] = max(worst.get(name, 0), off)
                    self.assertLessEqual(off, TOLERANCE, f"{name} on {got['platform']}, step {step}: {b} against {a}")
        print("largest difference of a loss:", ", ".join(f"{n} {w:.0e}" for n, w in worst.items()))


if __name__ == "__main__":
    unittest.main()
