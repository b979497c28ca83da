"""Facts about installing: a wheel and `cmake --install` both give a `stet` that finds its layer.

usage: test_install.py SOURCE_DIR BUILD_DIR TOOLS_PYTHON
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, PYTHON = (os.path.abspath(p) for p in sys.argv[1:4])
del sys.argv[1:]
HARNESS = os.path.join(BUILD, "bin", "pjrt_harness")
FAKE = os.path.join(BUILD, "lib", "libfake_pjrt.so")


class Install(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="stet-install-")
        self.addCleanup(self.scratch.cleanup)
        self.dir = self.scratch.name

    def run_ok(self, *command, **more):
        out = subprocess.run(command, capture_output=True, text=True, timeout=600, **more)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        return out.stdout

    def check(self, stet):
        env = dict(os.environ, STET_STATE_DIR=os.path.join(self.dir, "state"))
        env.pop("LD_PRELOAD", None)
        program = os.path.join(self.dir, "program")
        with open(program, "w") as f:
            f.write("any bytes do\n")
        self.run_ok(stet, "run", "--quiet", "--", HARNESS, FAKE, program, env=env)
        runs = json.loads(self.run_ok(stet, "runs", "--format=json", env=env))["runs"]
        self.assertEqual([r["compiles"] for r in runs], [1])

    def test_cmake_install(self):
        prefix = os.path.join(self.dir, "prefix")
        self.run_ok("cmake", "--install", BUILD, "--prefix", prefix, "--component", "stet")
        self.check(os.path.join(prefix, "bin", "stet"))

    def test_wheel(self):
        wheels = os.path.join(self.dir, "wheels")
        # --no-build-isolation: the build tools are the pinned ones of this environment.
        self.run_ok(PYTHON, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, SOURCE,
                    env=dict(os.environ, PATH=os.path.dirname(PYTHON) + ":" + os.environ["PATH"]))
        (wheel,) = os.listdir(wheels)
        venv = os.path.join(self.dir, "venv")
        self.run_ok(sys.executable, "-m", "venv", venv)
        self.run_ok(os.path.join(venv, "bin", "pip"), "install", "--no-index", "--no-deps",
                    os.path.join(wheels, wheel))
        self.check(os.path.join(venv, "bin", "stet"))


if __name__ == "__main__":
    unittest.main()
